import GraphQLLanguage
import GraphQLSchema
import GraphQLValidation
import JSON

/// The documentation of a schema as a static site: a page for each type, an index with a search, and
/// nothing from elsewhere.
///
/// Addresses are relative, so that the files can be opened from a folder or served under any path.
package struct SchemaSite {
  /// What each role may do with one mutation, as a table of rights has it.
  package struct Right: Sendable {
    package let mutation: String
    /// What the mutation is aimed at.
    package let target: String
    /// `done`, or the code of the refusal, for each of the roles.
    package let outcomes: [String]
  }

  package struct File: Sendable {
    package let path: String
    package let bytes: [UInt8]
  }

  private let schema: Schema
  private let rights: [String: [Right]]
  private let roles: [String]
  /// The shortest operations that use a field of a root type, by coordinate.
  private var examples: [SchemaCoordinate: [String]] = [:]
  private static let maximumExamples = 2

  /// - Parameters:
  ///   - schema: the schema as clients see it.
  ///   - examples: documents; those that are not valid are left out.
  ///   - rights: a table of rights, see `SchemaRights`.
  package init(_ schema: Schema, examples: [String] = [], rights: SchemaRights = SchemaRights()) {
    self.schema = schema
    roles = rights.roles
    self.rights = Dictionary(grouping: rights.rights, by: \.mutation)
    for text in examples.sorted(by: { ($0.utf8.count, $0) < ($1.utf8.count, $1) }) {
      guard let document = try? Parser.parse(text, limits: .unlimited),
        let valid = try? Validator.validate(document, against: schema)
      else { continue }
      for operation in valid.operations {
        let root = schema.rootType(for: operation.kind).map { schema[$0].name }
        for coordinate in CoordinateUses(of: operation, in: valid).positions.keys {
          guard case .member(let type, _) = coordinate, type == root else { continue }
          self.examples[coordinate, default: []].append(Printer.print(document))
        }
      }
    }
  }

  /// All files of the site.
  package var files: [File] {
    let types = schema.types.filter { !$0.isBuiltIn }
    let pages = types.map { File(path: "\($0.name).html", html: page($0)) }
    return [
      File(path: "index.html", html: index(types)),
      File(path: "style.css", bytes: Array(SiteFiles.style.utf8)),
      File(path: "search.js", bytes: Array(script(types).utf8)),
    ] + pages
  }

  // MARK: - Pages

  /// - Parameter places: the names and addresses of the parts of the page.
  private func layout(
    _ title: String, _ body: String, _ places: [(name: String, address: String)] = []
  ) -> String {
    let links = places.map { "<a href=\"\($0.address)\">\(Self.escaped($0.name))</a>" }
    let navigation =
      places.count > 1
      ? "<nav aria-label=\"On this page\">\(links.joined(separator: " "))</nav>" : ""
    return layout(title, navigation + "\n" + body)
  }

  private func layout(_ title: String, _ body: String) -> String {
    """
    <!doctype html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>\(Self.escaped(title))</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="style.css">
    <script defer src="search.js"></script>
    </head>
    <body>
    <header><a href="index.html">Schema</a>
    <input id="search" type="search" placeholder="Search" aria-label="Search the schema"></header>
    <ol id="results" aria-live="polite"></ol>
    <main>
    \(body)
    </main>
    </body>
    </html>

    """
  }

  private func index(_ types: [TypeDefinition]) -> String {
    var body = "<h1>Schema</h1>\n" + text(schema.description)
    let roots = [
      ("Queries", schema.queryType), ("Mutations", schema.mutationType),
      ("Subscriptions", schema.subscriptionType),
    ]
    var places: [(name: String, address: String)] = []
    func add(_ title: String, _ members: [(name: String, address: String, description: String?)]) {
      let id = title.lowercased().replacing(" ", with: "-")
      places.append(("\(title) (\(members.count))", "#\(id)"))
      body += "<h2 id=\"\(id)\">\(title)</h2>\n" + list(members)
    }
    for case (let title, let id?) in roots {
      let root = schema[id]
      add(
        title,
        root.fields.map { ($0.name, "\(root.name).html#\($0.name)", $0.description) })
    }
    let rootIDs = Set(roots.compactMap(\.1))
    for (title, isMember) in Self.groups {
      let members = types.filter { !rootIDs.contains($0.id) && isMember($0.kind) }
      guard !members.isEmpty else { continue }
      add(title, members.map { ($0.name, "\($0.name).html", $0.description) })
    }
    return layout("Schema", body, places)
  }

  /// The number of elements from which a list is divided by the first letters of their names.
  private static let longList = 30

  /// Returns a list in the order of the names; a long one has a heading for each first letter.
  private func list(
    _ members: [(name: String, address: String, description: String?)]
  ) -> String {
    let members = members.sorted { $0.name.lowercased() < $1.name.lowercased() }
    func items(_ members: [(name: String, address: String, description: String?)]) -> String {
      let lines = members.map { item($0.address, $0.name, $0.description) }
      return "<ul class=\"list\">\n\(lines.joined())</ul>\n"
    }
    guard members.count >= Self.longList else { return items(members) }
    let groups = Dictionary(grouping: members) { $0.name.prefix(1).uppercased() }
    return groups.sorted { $0.key < $1.key }.map { letter, members in
      "<h3 class=\"letter\">\(letter)</h3>\n" + items(members)
    }.joined()
  }

  private static let groups: [(String, @Sendable (TypeDefinition.Kind) -> Bool)] = [
    ("Objects", { if case .object = $0 { true } else { false } }),
    ("Interfaces", { if case .interface = $0 { true } else { false } }),
    ("Unions", { if case .union = $0 { true } else { false } }),
    ("Enums", { if case .enum = $0 { true } else { false } }),
    ("Input objects", { if case .inputObject = $0 { true } else { false } }),
    ("Scalars", { if case .scalar = $0 { true } else { false } }),
  ]

  private func item(_ address: String, _ name: String, _ description: String?) -> String {
    let line = description.map { " " + inline(Self.firstSentence(of: $0)) } ?? ""
    return "<li><a href=\"\(address)\"><code>\(name)</code></a>\(line)</li>\n"
  }

  private func page(_ type: TypeDefinition) -> String {
    var body = "<h1><code>\(type.name)</code></h1>\n<p class=\"kind\">\(type.kind.title)"
    if !type.interfaces.isEmpty {
      body += ", implements " + type.interfaces.map { link($0) }.joined(separator: ", ")
    }
    body += "</p>\n" + text(type.description)
    switch type.kind {
    case .scalar(let url):
      if let url {
        body += "<p>Specified by <code>\(Self.escaped(url))</code>.</p>\n"
      }
    case .union(let members):
      body += "<p>One of " + members.map { link($0) }.joined(separator: ", ") + ".</p>\n"
    case .enum(let values):
      body += values.map {
        section($0.name, "", $0.description, $0.deprecationReason)
      }.joined()
    case .inputObject(let inputs, let isOneOf):
      if isOneOf { body += "<p>Exactly one field is given.</p>\n" }
      body += inputs.map {
        section(
          $0.name, ": " + reference($0.type) + initial($0), $0.description, $0.deprecationReason)
      }.joined()
    case .object, .interface: body += type.fields.map { section($0, of: type) }.joined()
    }
    if case .interface = type.kind {
      let possible = schema.possibleTypes[Int(type.id.index)]
      body += "<p>Implemented by " + possible.map { link($0) }.joined(separator: ", ") + ".</p>\n"
    }
    let members: [String] =
      switch type.kind {
      case .enum(let values): values.map(\.name)
      case .inputObject(let inputs, _): inputs.map(\.name)
      case .object, .interface, .union, .scalar: type.fields.map(\.name)
      }
    return layout(type.name, body, members.map { ($0, "#\($0)") })
  }

  /// Returns the first sentence of a description, which may go over several lines.
  private static func firstSentence(of description: String) -> String {
    let paragraph = description.split(separator: "\n\n").first.map(String.init) ?? ""
    let text = paragraph.split(whereSeparator: \.isNewline).joined(separator: " ")
    // A full stop ends it if another sentence begins behind it: not that of "e.g. this".
    guard let end = text.firstRange(of: #/[.!?] (?=\p{Lu}|`)/#) else { return text }
    return String(text[..<text.index(after: end.lowerBound)])
  }

  private func section(
    _ name: String, _ signature: String, _ description: String?, _ deprecation: String?,
    _ more: String = ""
  ) -> String {
    let warning =
      deprecation.map { "<p class=\"deprecated\">Deprecated. \(inline($0))</p>\n" } ?? ""
    return
      "<section id=\"\(name)\">\n<h3><code><a href=\"#\(name)\">\(name)</a>\(signature)</code></h3>\n"
      + warning + text(description) + more + "</section>\n"
  }

  private func section(_ field: FieldDefinition, of type: TypeDefinition) -> String {
    var more = ""
    if !field.arguments.isEmpty {
      let items = field.arguments.map { argument in
        let warning = argument.deprecationReason.map { " Deprecated. \(inline($0))" } ?? ""
        return
          "<dt><code>\(argument.name): \(reference(argument.type))\(initial(argument))</code></dt>\n"
          + "<dd>\(argument.description.map { inline($0) } ?? "")\(warning)</dd>\n"
      }
      more += "<dl>\n\(items.joined())</dl>\n"
    }
    if type.id == schema.mutationType { more += rightsTable(of: field.name) }
    let known = examples[.member(type: type.name, name: field.name)] ?? []
    for example in known.prefix(Self.maximumExamples) {
      more +=
        "<details><summary>Example</summary>\n<pre><code>\(Self.escaped(example))</code></pre>\n"
        + "</details>\n"
    }
    return section(
      field.name, ": " + reference(field.type), field.description, field.deprecationReason, more)
  }

  private func rightsTable(of mutation: String) -> String {
    guard let rights = rights[mutation] else { return "" }
    func row(_ cells: [String], _ tag: String) -> String {
      "<tr>" + cells.map { "<\(tag)>\($0)</\(tag)>" }.joined() + "</tr>\n"
    }
    let rows = rights.map { right in
      row(
        [Self.escaped(right.target)]
          + right.outcomes.map { $0 == "done" ? "yes" : "<code>\(Self.escaped($0))</code>" }, "td")
    }
    return "<details><summary>Who may call it</summary>\n<div class=\"wide\"><table>\n"
      + row(["on"] + roles.map(Self.escaped), "th") + rows.joined() + "</table></div>\n</details>\n"
  }

  // MARK: - Parts

  private func link(_ id: TypeID) -> String {
    let type = schema[id]
    return type.isBuiltIn ? type.name : "<a href=\"\(type.name).html\">\(type.name)</a>"
  }

  private func reference(_ type: TypeReference) -> String {
    switch type {
    case .named(let id): link(id)
    case .list(let inner): "[\(reference(inner))]"
    case .nonNull(let inner): "\(reference(inner))!"
    }
  }

  private func initial(_ input: InputValueDefinition) -> String {
    schema.defaultText(of: input).map { " = \(Self.escaped($0))" } ?? ""
  }

  /// Returns a description as paragraphs.
  private func text(_ description: String?) -> String {
    guard let description else { return "" }
    return description.split(separator: "\n\n").map { "<p>\(inline(String($0)))</p>\n" }.joined()
  }

  /// Returns text with its code between backticks; the name of a type there is a link.
  private func inline(_ text: String) -> String {
    let parts = text.split(separator: "`", omittingEmptySubsequences: false)
    return parts.enumerated().map { index, part in
      let escaped = Self.escaped(String(part))
      guard index % 2 == 1, index < parts.count - 1 else {
        return index % 2 == 1 ? "`\(escaped)" : escaped
      }
      let type = schema.type(named: String(part)).flatMap { $0.isBuiltIn ? nil : $0 }
      return type.map { "<a href=\"\($0.name).html\"><code>\(escaped)</code></a>" }
        ?? "<code>\(escaped)</code>"
    }.joined()
  }

  private static func escaped(_ text: String) -> String {
    text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
      .replacing("\"", with: "&quot;")
  }

  // MARK: - Search

  /// The script with what it searches: a name, an address, and the first sentence of each element.
  private func script(_ types: [TypeDefinition]) -> String {
    var entries: [JSONValue] = []
    func add(_ name: String, _ address: String, _ description: String?) {
      let line = description.map(Self.firstSentence) ?? ""
      entries.append(.array([.string(name), .string(address), .string(line)]))
    }
    for type in types {
      add(type.name, "\(type.name).html", type.description)
      func member(_ name: String, _ description: String?) {
        add("\(type.name).\(name)", "\(type.name).html#\(name)", description)
      }
      for field in type.fields { member(field.name, field.description) }
      switch type.kind {
      case .enum(let values): for value in values { member(value.name, value.description) }
      case .inputObject(let inputs, _):
        for input in inputs { member(input.name, input.description) }
      case .scalar, .object, .interface, .union: break
      }
    }
    return "const entries = \(JSONValue.array(entries));\n" + SiteFiles.search
  }
}

extension SchemaSite.File {
  fileprivate init(path: String, html: String) {
    self.init(path: path, bytes: Array(html.utf8))
  }
}

extension TypeDefinition.Kind {
  fileprivate var title: String {
    switch self {
    case .scalar: "Scalar"
    case .object: "Object"
    case .interface: "Interface"
    case .union: "Union"
    case .enum: "Enum"
    case .inputObject: "Input object"
    }
  }
}
