import Foundation
import GraphQLLanguage
import GraphQLPlanning
import GraphQLResponse
import GraphQLTransport
import GraphQLValidation
import HTTP
import TestSupport
import Testing

@testable import CommandLine
@testable import Server

/// The tables of the documentation that are made from the code.
///
/// Each stands between `<!-- begin generated: NAME -->` and `<!-- end generated -->`. With
/// `SOCIOGRAPH_UPDATE_FIXTURES=1` the test writes them instead of comparing them.
@Suite(.usesCluster) struct GeneratedTableTests {
  private static let tables: [String: @Sendable () throws -> String] = [
    "close codes": { closeCodes }, "commands": { commands }, "directives": { try directives },
    "errors": { errors }, "limits": { try limits }, "metrics": { try metrics },
    "modules": { try DocumentationTests.drawing() }, "options": { options },
  ]

  @Test func `every generated table is what the code says`() throws {
    let isUpdate = ProcessInfo.processInfo.environment["SOCIOGRAPH_UPDATE_FIXTURES"] != nil
    var shown: [String] = []
    for page in try DocumentationPages.all() {
      let text = try Guide(page).text
      var made = ""
      var rest = text[...]
      while let start = rest.firstMatch(of: /<!-- begin generated: ([a-z ]+) -->\n/) {
        let name = String(start.1)
        let end = try #require(
          rest[start.range.upperBound...].range(of: "<!-- end generated -->"), "\(page): \(name)")
        let make = try #require(Self.tables[name], "\(page): there is no table \(name)")
        let table = try make() + "\n"
        if !isUpdate {
          let isSame = rest[start.range.upperBound..<end.lowerBound] == table
          #expect(isSame, "\(page): SOCIOGRAPH_UPDATE_FIXTURES=1 writes the table of \(name) again")
        }
        made += rest[..<start.range.upperBound] + table + rest[end]
        rest = rest[end.upperBound...]
        shown.append(name)
      }
      if isUpdate, made + rest != text {
        try Data((made + rest).utf8).write(
          to: URL(filePath: TestCluster.packageFolder + "/" + page))
      }
    }
    #expect(shown.sorted() == Self.tables.keys.sorted())
  }

  @Test func `every limit that can be set is in the table of limits, once, with a code`() throws {
    let table = try Self.limits
    let names = table.matches(of: /`--([a-z-]+)`/).map { String($0.1) }
    let options = ServeSettings.sections.flatMap(\.options).map(\.name).filter {
      $0.hasPrefix("maximum-") && $0 != "maximum-cached-documents" || $0.hasPrefix("rate-limit")
        || $0.hasSuffix("-timeout") && $0 != "outbox-timeout"
    }
    #expect(Set(options).subtracting(names) == [])
    #expect(Set(names).count == names.count)
    for match in table.matches(of: /`([A-Z_]{6,})`/) {
      #expect(ErrorCode(rawValue: String(match.1)) != nil, "\(match.1)")
    }
  }

  // MARK: - The tables

  private static func table(_ head: [String], _ rows: [[String]]) -> String {
    ([head, head.map { _ in "---" }] + rows).map { row in
      row[0] == "---"
        ? "|" + row.joined(separator: "|") + "|"
        : "| " + row.map { $0.replacing("|", with: "\\|") }.joined(separator: " | ") + " |"
    }.joined(separator: "\n")
  }

  private static var commands: String {
    table(
      ["command", "does"],
      Program.commands.map(\.specification).map { command in
        let operands = command.operands.isEmpty ? "" : " " + command.operands
        return ["`sociograph \(command.name)\(operands)`", command.summary]
      } + [["`sociograph version`", "Prints the version."]])
  }

  private static var options: String {
    ServeSettings.sections.map { section in
      "## \(section.title)\n\n"
        + table(
          ["option", "environment variable", "default", "meaning"],
          section.options.map { option in
            let placeholder = option.placeholder.map { " " + $0 } ?? ""
            return [
              "`--\(option.name)\(placeholder)`", "`\(option.environment)`", option.shownDefault,
              option.summary,
            ]
          })
    }.joined(separator: "\n\n")
  }

  private static var errors: String {
    table(
      ["code", "status", "cause and remedy"],
      ErrorCode.allCases.map { code in
        // In the default profile.
        let status =
          [.persistedQueryNotFound, .persistedQueryNotSupported].contains(code)
          ? TransportError.persistedQueryNotFound.status(.edition2026)
          : ResponseFormat(mediaType: .graphQLResponse, profile: .edition2026)
            .status(notExecuted: code)
        return ["`\(code.rawValue)`", "\(status.code)", code.summary]
      })
  }

  private static var closeCodes: String {
    table(
      ["code", "cause"],
      (SocketClose.allCases.map { ($0.code, $0.summary) } + [
        (1009, "A message is larger than \(HTTPLimits().maximumMessageBytes / 1024) KiB.")
      ]).sorted { $0.0 < $1.0 }.map { ["\($0.0)", $0.1] })
  }

  private static var directives: String {
    get throws {
      let rows = try Parser.parse(StorageDirectives.sdl).definitions.compactMap { definition in
        guard case .directive(let directive) = definition else { return [String]?.none }
        let arguments = directive.arguments.map(\.name.text).joined(separator: ", ")
        let places = directive.locations.map {
          $0.text.lowercased().replacing("_definition", with: "").replacing("_", with: " ")
        }
        return [
          "`@\(directive.name.text)\(arguments.isEmpty ? "" : "(\(arguments))")`",
          places.joined(separator: ", "), directive.description?.text ?? "",
        ]
      }
      return table(["directive", "on", "says"], rows)
    }
  }

  /// Of metrics whose samples exist only once something was counted.
  private static let labels = [
    "sociograph_deprecated_uses_total": "coordinate, client, version",
    "sociograph_faults_total": "subject, code", "sociograph_loop_delay_seconds": "loop",
    "sociograph_http_refused_total": "status", "sociograph_http_connections_closed_total": "reason",
    "sociograph_pool_closed_total": "reason", "sociograph_pool_shed_total": "pool, reason",
    "sociograph_pool_retried_total": "pool, reason", "sociograph_tasks_total": "task, result",
    "sociograph_task_seconds_total": "task",
  ]

  private static var metrics: String {
    get throws {
      let page = MetricsPage(
        loops: [], process: ProcessStatistics(), log: LogWriter.Counts(),
        traces: TraceExporter.Counts(), tasks: [:], outbox: Outbox.Counts(), heldBytes: 0,
        version: serverVersion)
      var rows: [[String]] = []
      for family in String(decoding: page.bytes, as: UTF8.self).components(separatedBy: "# HELP ")
        .dropFirst()
      {
        let lines = family.split(separator: "\n")
        let name = try #require(lines.first?.split(separator: " ").first)
        let type = try #require(lines.dropFirst().first?.split(separator: " ").last)
        var found: [String] = []
        for line in lines.dropFirst(2) {
          for match in line.matches(of: /[{,](\w+)="/)
          where match.1 != "le" && !found.contains(String(match.1)) {
            found.append(String(match.1))
          }
        }
        let known = labels[String(name)]
        #expect(known == nil || found.isEmpty, "\(name) has samples; take it from the list")
        rows.append([
          "`\(name)`", String(type), known ?? found.joined(separator: ", "),
          String(lines[0].dropFirst(name.count + 1)),
        ])
      }
      return table(["metric", "type", "labels", "meaning"], rows)
    }
  }

  /// The limits, each with its value, the option that sets it, and the response beyond it. `script/attack --limits`
  /// reads this table and exceeds each of them.
  private static var limits: String {
    get throws {
      let all = ServeSettings.sections.flatMap(\.options)
      func value(_ option: String) throws -> String {
        try #require(all.first { $0.name == option }, "\(option)").shownDefault
      }
      func code(_ codes: ErrorCode...) -> String {
        codes.map { "`\($0.rawValue)`" }.joined(separator: ", ")
      }
      let http = HTTPLimits()
      let document = ValidationLimits.server
      let planner = PlannerLimits()
      func number(_ limit: Int?) throws -> String { "\(try #require(limit))" }
      // Name, value with `%` for the option's default, option, response.
      let rows: [(String, String, String?, String)] = [
        (
          "request header",
          "% bytes, \(http.maximumHeaderFields) fields, \(http.maximumRequestLineBytes / 1024) KiB "
            + "for the first line", "maximum-header-bytes", code(.headersTooLarge, .uriTooLong)
        ),
        ("time for a request header", "%", "header-timeout", code(.requestTimeout)),
        ("request body", "% bytes", "maximum-body-bytes", code(.payloadTooLarge)),
        (
          "time for a request body",
          "%, at least \(http.minimumBodyBytesPerSecond / 1024) KiB a second",
          "body-timeout", code(.requestTimeout)
        ),
        (
          "connections",
          "%; while three quarters are in use, idle ones are closed after "
            + "\(http.crowdedIdle.components.seconds) seconds", "maximum-connections",
          code(.serviceOverloaded)
        ),
        (
          "connections of one address; behind a trusted proxy, its requests in progress", "%",
          "maximum-connections-per-address", code(.serviceOverloaded)
        ),
        ("idle time of a connection", "%", "idle-timeout", "it is closed"),
        (
          "requests of a connection", "\(http.maximumRequestsPerConnection)", nil,
          "`Connection: close`"
        ),
        (
          "streams of a connection of HTTP/2", "\(HTTP2Limits.streams)", nil,
          "REFUSED_STREAM"
        ),
        (
          "request bodies of a connection of HTTP/2, in total",
          "\(HTTP2Limits.receivedBytes) bytes, or that of one body", nil,
          code(.serviceOverloaded)
        ),
        (
          "streams of HTTP/2 that a client resets",
          "\(HTTP2Limits.resets) at once, \(HTTP2Limits.resetsPerSecond) a second", nil,
          "the connection is closed"
        ),
        (
          "frames of HTTP/2 without content: PING, SETTINGS, PRIORITY, empty DATA",
          "\(HTTP2Limits.idleFrames) at once, \(HTTP2Limits.idleFramesPerSecond) a second", nil,
          "the connection is closed"
        ),
        (
          "response that is not read",
          "\(http.writeStall.components.seconds) seconds without a byte read, or afterwards less than "
            + "\(http.minimumReadBytesPerSecond / 1024) KiB a second", nil,
          "the connection is reset"
        ),
        (
          "responses that are not read, in total", "% bytes", "maximum-buffered-bytes",
          code(.serviceOverloaded)
        ),
        ("document", "% bytes", "maximum-document-bytes", code(.documentTooLarge)),
        ("tokens of a document", "%", "maximum-tokens", code(.tokenLimitExceeded)),
        (
          "nesting of a document or of JSON", "\(ParserLimits.default.maximumNesting)", nil,
          code(.nestingLimitExceeded)
        ),
        ("variables", "% bytes", "maximum-variables-bytes", code(.badUserInput)),
        ("depth of fields", "%", "maximum-depth", code(.depthLimitExceeded)),
        ("aliases", "%", "maximum-aliases", code(.aliasLimitExceeded)),
        ("root fields", "%", "maximum-root-fields", code(.rootFieldLimitExceeded)),
        (
          "directives",
          "\(try number(document.directivesPerPlace)) at one place, \(try number(document.directives)) "
            + "in the document", nil, code(.directiveLimitExceeded)
        ),
        (
          "selections, with fragments expanded", "%", "maximum-selections",
          code(.selectionLimitExceeded)
        ),
        (
          "nested lists of the schema's fields", try number(document.introspectionLists), nil,
          code(.introspectionDepthLimitExceeded)
        ),
        (
          "comparisons of fields that may have to be merged", try number(document.mergeComparisons),
          nil, code(.mergeLimitExceeded)
        ),
        ("requests in one body", "%", "maximum-batch", code(.badRequest)),
        ("sets of variables in one request", "%", "maximum-variable-sets", code(.badRequest)),
        ("page", "% elements", "maximum-page-size", code(.badUserInput)),
        ("IDs in one list", "100", nil, code(.badUserInput)),
        (
          "conditions in a field's lists of input objects", "100, with each object as one more",
          nil,
          code(.badUserInput)
        ),
        (
          "a filter",
          "\(planner.maximumFilterConditions) conditions, \(planner.maximumFilterDepth) levels, "
            + "\(planner.maximumFilterAlternatives) filters in one `or`", nil, code(.badUserInput)
        ),
        (
          "orders of a list",
          "\(planner.maximumOrders), by \(planner.maximumOrderDepth) relations each",
          nil, code(.badUserInput)
        ),
        ("rows of one insert", "\(planner.maximumInsertedRows)", nil, code(.badUserInput)),
        ("elements of a response", "%", "maximum-elements", code(.costLimitExceeded)),
        (
          "aggregates and groups of an operation", "100 points for each, as part of its cost",
          nil, code(.costLimitExceeded)
        ),
        ("cost of an operation", "%", "maximum-cost", code(.costLimitExceeded)),
        (
          "response", "% bytes", "maximum-response-bytes",
          code(.costLimitExceeded, .resultLimitExceeded)
        ),
        ("count", "%", "maximum-count", "`isTotalCountExact` is false"),
        (
          "rate-limit points of a viewer", "%", "rate-limit",
          code(.rateLimited) + "; `extensions.cost` has the balance"
        ),
        (
          "rate-limit points of an address", "%", "rate-limit-address",
          code(.rateLimited) + "; `extensions.cost` has the balance"
        ),
        (
          "wrong passwords",
          "5 for one name, then increasing waits; 20 of one address in ten minutes", nil,
          code(.rateLimited)
        ),
        ("time of a statement", "%", "statement-timeout", code(.timeout)),
        ("time of an operation", "%", "operation-timeout", code(.timeout)),
        ("time of a mutation's field", "%", "mutation-timeout", code(.timeout)),
        (
          "wait for a connection, or for a new document to be planned", "%", "queue-timeout",
          code(.serviceOverloaded)
        ),
        (
          "one client's share of an event loop's connections, for expensive or unmeasured statements and mutations",
          "half of `--pool-size` and of `--writers`", nil, "it waits"
        ),
        (
          "one client's share of a full queue, and of the new documents that wait", "a quarter",
          nil,
          code(.serviceOverloaded)
        ),
        ("uploaded image", "% bytes", "maximum-photo-bytes", code(.payloadTooLarge)),
        ("pixels of an uploaded image", "%", "maximum-photo-pixels", code(.tooManyPixels)),
      ]
      return table(
        ["limit", "default", "option", "beyond it"],
        try rows.map { name, size, option, beyond in
          let size = try option.map { size.replacing("%", with: try value($0)) } ?? size
          return [name, size, option.map { "`--\($0)`" } ?? "", beyond]
        })
    }
  }
}
