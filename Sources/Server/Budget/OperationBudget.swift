import JSON

/// What the operations of a manifest take of the database, as it was once recorded or is now.
package struct OperationBudget: Sendable, Equatable {
  /// One statement of an operation.
  package struct Statement: Sendable, Equatable {
    /// The name under which connections prepare it.
    package var name: String
    /// What it serves: empty for the response, or else the field of a mutation or a later part.
    package var part: String
    /// The planner's estimate.
    package var cost: Double
    /// The pages of shared buffers, and the rows that its scans gave; nil if it was only planned.
    package var buffers: Int?
    package var rows: Int?
    /// The indexes of its plan, in the order of their names.
    package var indexes: [String]
    /// The tables that it reads completely, with their rows.
    package var scans: [Scan]
    /// The fields of the response with the most pages.
    package var fields: [FieldPages]
  }

  package struct Scan: Sendable, Equatable {
    package var table: String
    package var rows: Int
  }

  package struct FieldPages: Sendable, Equatable {
    package var field: String
    package var pages: Int
  }

  package struct Operation: Sendable, Equatable {
    package var name: String
    package var statements: [Statement]
  }

  package var operations: [Operation]

  package init(operations: [Operation]) { self.operations = operations }

  // MARK: - JSON

  private static let format = "sociograph-budget/1"

  /// The budget as JSON, a line for each statement, so that versions of it can be compared.
  package var json: [UInt8] {
    var writer = JSONWriter()
    writer.append("{\"format\":")
    writer.write(Self.format)
    writer.append(",\"operations\":[")
    for (index, operation) in operations.enumerated() {
      writer.append(index > 0 ? ",\n{\"name\":" : "\n{\"name\":")
      writer.write(operation.name)
      writer.append(",\"statements\":[")
      for (place, statement) in operation.statements.enumerated() {
        writer.append(place > 0 ? ",\n  " : "\n  ")
        writer.write(statement.json)
      }
      writer.append("]}")
    }
    writer.append("]}\n")
    return writer.finish()
  }

  /// Reads a budget.
  ///
  /// - Throws: a `CommandFailure` if it is none.
  package init(json: [UInt8]) throws(CommandFailure) {
    let value: JSONValue
    do throws(JSONError) {
      value = try JSONParser.parse(json)
    } catch {
      throw CommandFailure("\(error)")
    }
    guard value["format"] == .string(Self.format), case .array(let items)? = value["operations"]
    else { throw CommandFailure("it is not a budget of the format \(Self.format).") }
    operations = []
    for item in items {
      guard case .string(let name)? = item["name"], case .array(let parts)? = item["statements"]
      else { throw CommandFailure("an operation has no name or no statements.") }
      let statements = parts.compactMap { Statement($0) }
      guard statements.count == parts.count else {
        throw CommandFailure("a statement of \(name) cannot be read.")
      }
      operations.append(Operation(name: name, statements: statements))
    }
  }
}

extension OperationBudget.Statement {
  fileprivate var json: JSONValue {
    func member(_ name: String, _ value: JSONValue) -> JSONValue.Member {
      JSONValue.Member(name: name, value: value)
    }
    func number(_ value: Int?) -> JSONValue { value.map { .number("\($0)") } ?? .null }
    return .object([
      member("statement", .string(name)), member("part", .string(part)),
      member("cost", .number("\(cost)")), member("buffers", number(buffers)),
      member("rows", number(rows)), member("indexes", .array(indexes.map { .string($0) })),
      member(
        "scans",
        .array(
          scans.map {
            .object([member("table", .string($0.table)), member("rows", number($0.rows))])
          })),
      member(
        "fields",
        .array(
          fields.map {
            .object([member("field", .string($0.field)), member("pages", number($0.pages))])
          })),
    ])
  }

  fileprivate init?(_ json: JSONValue) {
    func number(_ value: JSONValue?) -> Int? {
      if case .number(let text)? = value { Int(text) } else { nil }
    }
    func text(_ value: JSONValue?) -> String? {
      if case .string(let text)? = value { text } else { nil }
    }
    func items(_ value: JSONValue?) -> [JSONValue] {
      if case .array(let items)? = value { items } else { [] }
    }
    guard let name = text(json["statement"]), let part = text(json["part"]),
      case .number(let digits)? = json["cost"], let cost = Double(digits)
    else { return nil }
    self.name = name
    self.part = part
    self.cost = cost
    buffers = number(json["buffers"])
    rows = number(json["rows"])
    indexes = items(json["indexes"]).compactMap { text($0) }
    scans = items(json["scans"]).compactMap { scan in
      text(scan["table"]).map { OperationBudget.Scan(table: $0, rows: number(scan["rows"]) ?? 0) }
    }
    fields = items(json["fields"]).compactMap { field in
      text(field["field"]).map {
        OperationBudget.FieldPages(field: $0, pages: number(field["pages"]) ?? 0)
      }
    }
  }
}
