import Cryptography
import Foundation
import GraphQLTransport
import HTTP
import Load
import Postgres

/// The options of `sociograph load`, read and checked before anything is sent.
struct LoadSettings {
  enum Mode {
    case rate(Double)
    case knee(KneeRun.Settings)
    /// Two servers, alternating.
    case servers(against: HTTPTarget, rate: Double, blocks: Int)
    /// Two saved runs.
    case files(String, String)
  }

  let mode: Mode
  /// The plan; nil if two saved runs are compared.
  let plan: LoadPlan?
  let objective: Objective
  /// Whether `--slo` decides about the exit code.
  let isJudged: Bool
  let save: String?
  let report: String?
  let ledger: String?
  /// The number of sessions to create for the run.
  let people: Int?
  /// Where the functions are that create sessions.
  private let namespaces: [String]
  /// The PostgreSQL to observe.
  let database: PostgresConfiguration?
  let maximumTime: Duration
  /// The remarks to print before the run.
  let remarks: [String]
  /// The options by name, without tokens, passwords and values of headers.
  let shown: [(name: String, value: String)]
  let url: String

  init(_ options: CommandOptions) throws {
    let words = options.operands
    let isComparison = words.first == "compare"
    let operands = isComparison ? Array(words.dropFirst()) : words
    save = options.text("save")
    report = options.text("report")
    ledger = options.text("ledger")
    database = try Self.database(options)
    people = try Self.people(options)
    namespaces = try people.map { _ in try SettingOptions.namespaces(options) } ?? []
    isJudged = options.isTold("slo")
    url = options.text("url") ?? ""
    shown = Self.shown(options)
    maximumTime = .nanoseconds(try Self.time("maximum-time", options, 1_800_000_000_000))
    objective = try Self.objective(options)
    if isComparison, operands.count == 2 {
      mode = .files(operands[0], operands[1])
      plan = nil
      remarks = []
      return
    }
    let documents = options.text("documents")
    guard operands.count == 1 || operands.isEmpty && documents != nil else {
      throw UsageError(
        "load needs one MIX, or --documents with a manifest; compare also takes two saved runs.")
    }
    let target = try Self.target("url", options)
    var (mix, remarks) = try Self.mix(operands.first, documents, options)
    if mix.mutationsAreOptional, try !options.isSet("writes"),
      mix.operations.contains(where: { $0.kind != .query && $0.weight > 0 })
    {
      mix.leaveOutMutations()
      remarks.append("mutations and subscriptions of the mix are left out; --writes sends them")
    }
    let plan = try Self.plan(target, mix, operands.first, options)
    let rate = try Self.rate(options)
    let isKnee = try options.isSet("find-knee")
    guard (rate != nil) != isKnee else {
      throw UsageError("load needs exactly one of --rate and --find-knee.")
    }
    if isComparison {
      guard let rate, options.text("against") != nil else {
        throw UsageError(
          "compare needs --rate and --against with the other server, or two saved runs.")
      }
      mode = .servers(
        against: try Self.target("against", options), rate: rate,
        blocks: try options.int("blocks", in: 2...500) ?? 20)
    } else {
      guard options.text("against") == nil else {
        throw UsageError("--against is an option of load compare.")
      }
      mode = try rate.map(Mode.rate) ?? .knee(Self.knee(options, objective))
    }
    self.plan = plan
    try Self.checkNames(objective, mix)
    self.remarks = remarks
    try checkTime()
  }

  /// Creates the sessions of `--people`; nil without it.
  func makePeople() throws(LoadFailure) -> LoadPeople? {
    guard let people, var database else { return nil }
    database.namespaces = namespaces
    return try LoadPeople(people, in: database)
  }

  // MARK: - Values

  /// Returns a time in nanoseconds.
  private static func time(
    _ name: String, _ options: CommandOptions, _ fallback: Int64, minimum: Int64 = 1
  ) throws(UsageError) -> Int64 {
    guard let text = options.text(name) else { return fallback }
    guard let time = LoadTime.nanoseconds(text), time >= minimum else {
      throw UsageError(
        "\(options.origin(name)) must be a time such as 500ms, 30s or 10m, not \"\(text)\".")
    }
    return time
  }

  private static func database(
    _ options: CommandOptions
  ) throws(UsageError) -> PostgresConfiguration? {
    guard let text = options.text("database") else { return nil }
    do {
      var configuration = try PostgresConfiguration(text)
      configuration.checksHistory = false
      return configuration
    } catch {
      throw UsageError("\(options.origin("database")): \(error)")
    }
  }

  private static func people(_ options: CommandOptions) throws(UsageError) -> Int? {
    guard let count = try options.int("people", in: 1...10_000) else { return nil }
    guard options.text("database") != nil else {
      throw UsageError("--people needs --database, with the role that owns the graph.")
    }
    guard options.text("tokens") == nil else {
      throw UsageError("--people and --tokens exclude each other.")
    }
    return count
  }

  private static func rate(_ options: CommandOptions) throws(UsageError) -> Double? {
    guard let text = options.text("rate") else { return nil }
    guard let rate = decimal(text[...]), rate > 0, rate <= 1_000_000 else {
      throw UsageError(
        "\(options.origin("rate")) must be arrivals a second, more than 0, not \"\(text)\".")
    }
    return rate
  }

  /// Returns a decimal number as people write it, without signs, exponents and words.
  private static func decimal(_ text: Substring) -> Double? {
    guard text.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == ".") }) else { return nil }
    return Double(text)
  }

  private static func knee(
    _ options: CommandOptions, _ objective: Objective
  ) throws(UsageError) -> KneeRun.Settings {
    var settings = KneeRun.Settings()
    if let text = options.text("rates") {
      guard let dots = text.firstRange(of: ".."), let low = decimal(text[..<dots.lowerBound]),
        let high = decimal(text[dots.upperBound...]), low > 0, high >= low, high <= 1_000_000
      else {
        throw UsageError("\(options.origin("rates")) must be such as 10..20000, not \"\(text)\".")
      }
      settings.rates = low...high
    }
    if let text = options.text("precision") {
      guard text.hasSuffix("%"), let percent = decimal(text.dropLast()), percent >= 0.1,
        percent <= 100
      else {
        throw UsageError("\(options.origin("precision")) must be such as 2.5%, not \"\(text)\".")
      }
      settings.precision = percent / 100
    }
    settings.step = try time("step", options, settings.step)
    if let longest = objective.longest, Double(settings.step) < Double(longest) / settings.precision
    {
      throw UsageError(
        "\(options.origin("step")) must be at least "
          + "\(LoadTime.decimal(Double(longest) / settings.precision / 1e9, 1))s: in a shorter step a server "
          + "that is too slow by the precision is not late by what --slo allows.")
    }
    return settings
  }

  private static func objective(_ options: CommandOptions) throws(UsageError) -> Objective {
    do {
      return try Objective(options.text("slo") ?? "")
    } catch {
      throw UsageError("\(options.origin("slo")): \(error)")
    }
  }

  private static func checkNames(_ objective: Objective, _ mix: Mix) throws(UsageError) {
    for term in objective.terms {
      if let name = term.operation, !mix.sent.contains(where: { $0.name == name }) {
        throw UsageError("--slo: the mix sends no operation \"\(name)\".")
      }
    }
  }

  /// Returns a server that may be sent load: on this machine, or named by the option that allows it.
  private static func target(
    _ name: String, _ options: CommandOptions
  ) throws(UsageError) -> HTTPTarget {
    let text = options.text(name) ?? ""
    guard let target = HTTPTarget(text) else {
      throw UsageError(
        "\(options.origin(name)) must be a URL such as http://127.0.0.1:8080/graphql or unix:PATH, without "
          + "a user's name, not \"\(text.contains("@") ? "..." : text)\".")
    }
    if let host = target.host, !target.isLocal, !options.texts("allow-remote").contains(host) {
      throw UsageError(
        "\(options.origin(name)): \(host) is another machine. If you may send load to it, give "
          + "--allow-remote \(host).")
    }
    return target
  }

  // MARK: - The mix

  private static func mix(
    _ operand: String?, _ documents: String?, _ options: CommandOptions
  ) throws -> (Mix, [String]) {
    var isFolder: ObjCBool = false
    let isThere = operand.map {
      unsafe FileManager.default.fileExists(atPath: $0, isDirectory: &isFolder)
    }
    if let operand, isThere == false {
      throw UsageError("there is no mix \"\(operand)\".")
    }
    var files: [MixReader.File] = []
    var manifests = documents.map { [$0] } ?? []
    if let operand {
      if isFolder.boolValue {
        for name in try FileManager.default.contentsOfDirectory(atPath: operand).sorted()
        where name.hasSuffix(".graphql") || name == "mix.json" {
          files.append(MixReader.File(name: name, bytes: try contents("\(operand)/\(name)")))
        }
      } else {
        manifests.append(operand)
      }
    }
    var trusted: [(id: String, text: String)] = []
    for name in manifests {
      do {
        trusted += try TrustedDocuments(manifest: contents(name)).documents
      } catch let error as ManifestError {
        throw UsageError("\(name): \(error.reason)")
      }
    }
    do {
      let mix = try MixReader.read(folder: files, manifest: trusted) { name in
        try contents(name.hasPrefix("/") ? name : "\(operand ?? ".")/\(name)")
      }
      return try weighted(mix, options)
    } catch let error as LoadInputError {
      throw UsageError("\(operand ?? documents ?? ""): \(error)")
    }
  }

  private static func contents(_ name: String) throws(UsageError) -> [UInt8] {
    do {
      return try Console.contents(of: name)
    } catch {
      throw UsageError(error.description)
    }
  }

  /// Returns the mix with the weights of a log, if one is given.
  private static func weighted(
    _ mix: Mix, _ options: CommandOptions
  ) throws -> (Mix, [String]) {
    guard let file = options.text("weights-from") else { return (mix, []) }
    let log = AccessLog(try contents(file))
    guard log.lines > 0 else {
      throw UsageError(
        "\(file) has no line of an operation; it must be the log of serve --access-log.")
    }
    var mix = mix
    for index in mix.operations.indices where mix.operations[index].kind != .subscription {
      let hash = Hexadecimal.encode(SHA256.hash(Array(mix.operations[index].document.utf8)))
      mix.operations[index].weight = Double(log.counts[String(hash.prefix(16))] ?? 0)
    }
    let known = mix.operations.reduce(0) { $0 + ($1.kind == .subscription ? 0 : $1.weight) }
    let unknown = 1 - known / Double(log.lines)
    guard unknown > 0 else { return (mix, []) }
    let text =
      "\(LoadTime.decimal(unknown * 100, 1)) % of the lines of \(file) are of documents that the mix has not"
    guard unknown <= 0.05 else { throw UsageError(text + "; 5 % may be.") }
    return (mix, [text])
  }

  private static func plan(
    _ target: HTTPTarget, _ mix: Mix, _ operand: String?, _ options: CommandOptions
  ) throws -> LoadPlan {
    guard !mix.sent.isEmpty else { throw UsageError("no operation of the mix has a weight.") }
    let writes = try options.isSet("writes")
    if let mutation = mix.sent.first(where: { $0.kind == .mutation }), !writes {
      throw UsageError(
        "\(mutation.name) is a mutation, which changes what the server has: give --writes, or the weight 0."
      )
    }
    guard options.text("ledger") == nil || writes else {
      throw UsageError("--ledger needs --writes.")
    }
    // Those of a manifest are left out, as what their events answer is not known.
    if let subscription = mix.subscriptions.first(where: {
      $0.documentID == nil && $0.audience == nil
    }) {
      throw UsageError(
        "\(subscription.name) is a subscription: mix.json must name its subscribers, trigger and match."
      )
    }
    for subscription in mix.subscriptions {
      if let trigger = subscription.audience?.trigger,
        !mix.sent.contains(where: { $0.name == trigger })
      {
        throw UsageError("\(trigger), the trigger of \(subscription.name), has no weight.")
      }
    }
    var plan = LoadPlan(target: target, mix: mix)
    plan.arrivals = try options.choice("arrivals", as: Schedule.Arrivals.self) ?? .poisson
    plan.seed = UInt64(try options.int("seed", in: 0...Int.max) ?? 1)
    plan.warmUp = try time("warm-up", options, plan.warmUp, minimum: 0)
    plan.duration = try time("duration", options, plan.duration)
    plan.driver.maximumConnections = try options.int("connections", in: 1...60_000) ?? 128
    plan.driver.timeout = try time("timeout", options, plan.driver.timeout)
    plan.requests.asksForTimings = try options.isSet("timings")
    plan.requests.headers = try headers(options)
    plan.requests.tokens = try tokens(options, mix, operand)
    plan.requests.sendsID = try options.choice("send", as: Sending.self) == .id
    if plan.requests.sendsID, let nameless = mix.sent.first(where: { $0.documentID == nil }) {
      throw UsageError(
        "--send id: no manifest has an ID of \(nameless.name); name one with --documents.")
    }
    return plan
  }

  private enum Sending: String, CaseIterable { case document, id }

  private static func headers(_ options: CommandOptions) throws(UsageError) -> [String] {
    let texts = options.texts("header")
    for text in texts {
      let name = text.prefix { $0 != ":" }
      let isToken = name.utf8.allSatisfy { byte in
        byte > 0x20 && byte < 0x7F && !"\"(),/:;<=>?@[\\]{}".utf8.contains(byte)
      }
      guard name.utf8.count < text.utf8.count, !name.isEmpty, isToken,
        text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
      else { throw UsageError("--header must be such as \"Name: value\".") }
    }
    return texts
  }

  private static func tokens(
    _ options: CommandOptions, _ mix: Mix, _ operand: String?
  ) throws(UsageError) -> [String] {
    guard options.text("people") == nil else { return [] }
    let named = mix.tokens.map { $0.hasPrefix("/") ? $0 : "\(operand ?? ".")/\($0)" }
    guard let file = options.text("tokens") ?? named else { return [] }
    let lines = String(decoding: try contents(file), as: UTF8.self)
      .split(whereSeparator: \.isNewline).map { $0.trimmingCharacters(in: .whitespaces) }
      .filter { !$0.isEmpty }
    guard !lines.isEmpty else { throw UsageError("\(file) has no token.") }
    guard lines.allSatisfy({ $0.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F } }) else {
      throw UsageError("\(file) has a line that is no token.")
    }
    return lines
  }

  // MARK: - The plan's length

  private func checkTime() throws(UsageError) {
    guard let plan else { return }
    let seconds = { (nanoseconds: Int64) in Double(nanoseconds) / 1e9 }
    let planned: Double
    var rate: Double
    var window = seconds(plan.warmUp + plan.duration)
    switch mode {
    case .rate(let told):
      rate = told
      planned = window
    case .servers(_, let told, let blocks):
      rate = told
      planned = 2 * window
      window = seconds(plan.warmUp + plan.duration / Int64(blocks))
    case .knee(let settings):
      rate = settings.rates.upperBound
      window = seconds(settings.step)
      let search = KneeSearch(rates: settings.rates, precision: settings.precision)
      planned = seconds(plan.warmUp) + window * Double(search.maximumSteps)
    case .files: return
    }
    let limit =
      Double(maximumTime.components.seconds) + Double(maximumTime.components.attoseconds) / 1e18
    guard planned <= limit else {
      throw UsageError(
        "the plan takes \(LoadTime.decimal(planned, 0)) s, more than --maximum-time, \(LoadTime.decimal(limit, 0)) s."
      )
    }
    guard rate * window <= 10_000_000 else {
      throw UsageError(
        "the plan has \(LoadTime.decimal(rate * window, 0)) requests in a window; 10000000 are possible."
      )
    }
  }

  // MARK: - What is shown

  private static func shown(_ options: CommandOptions) -> [(name: String, value: String)] {
    var shown = [(name: "mix", value: options.operands.joined(separator: " "))]
    for option in LoadCommand.specification.options {
      let texts = options.texts(option.name)
      guard !texts.isEmpty else { continue }
      let value =
        switch option.name {
        // It may have a password.
        case "database": "..."
        case "header": texts.map { "\($0.prefix { $0 != ":" }): ..." }.joined(separator: ", ")
        default: texts.joined(separator: ", ")
        }
      shown.append((option.name, value))
    }
    return shown
  }
}

/// The operations in a log of `serve --access-log`, counted by the hashes of their documents.
struct AccessLog {
  private(set) var lines = 0
  private(set) var counts: [String: Int] = [:]

  init(_ bytes: [UInt8]) {
    for line in bytes.split(separator: UInt8(ascii: "\n")) {
      guard let hash = Self.hash(line) else { continue }
      lines += 1
      counts[hash, default: 0] += 1
    }
  }

  /// Returns the hash of the document in a line of text or JSON; nil for lines of other subjects.
  private static func hash(_ line: ArraySlice<UInt8>) -> String? {
    let text = String(decoding: line, as: UTF8.self)
    let mark: String
    if text.hasPrefix("{") {
      guard text.contains("\"subject\":\"access\"") else { return nil }
      mark = "\"document\":\""
    } else {
      guard text.contains(" access: ") else { return nil }
      mark = " document="
    }
    guard let place = text.range(of: mark) else { return nil }
    let hash = text[place.upperBound...].prefix { $0.isHexDigit }
    return hash.count == 16 ? String(hash) : nil
  }
}
