import SQL

extension ResponsePlan {
  package var statement: SQLStatement? {
    if case .read(let read) = self { read.statement } else { nil }
  }

  package var parameters: [PlanParameter] {
    if case .read(let read) = self { read.parameters } else { [] }
  }
}

/// The lines that `explain` shows of the statement for a response, or for its initial part.
extension Plan {
  /// The plan of the response, or of its first part; nil for a mutation.
  package var response: ResponsePlan? {
    switch self {
    case .query(let response), .live(let response, _), .incremental(let response, _),
      .subscription(let response, _):
      response
    case .mutation: nil
    }
  }

  package var statement: SQLStatement? { response?.statement }
  package var parameters: [PlanParameter] { response?.parameters ?? [] }
  package var shape: ObjectShape { response?.shape ?? ObjectShape(fields: []) }

  /// Returns the parameters, one per line: `$2 text: variable $username`.
  package func parameterLines(variableNames: [String]) -> [String] {
    parameters.enumerated().map { index, parameter in
      "$\(index + 1) " + parameter.description(variableNames)
    }
  }

  /// The output shape as an indented tree: response names and the columns that they are read from.
  package var shapeLines: [String] { shape.lines(depth: 0) }
}

extension PlanParameter {
  package func description(_ names: [String]) -> String {
    switch self {
    case .viewer: "bigint: the viewer's id"
    case .locale: "text: the languages of the request, best first"
    case .app: "text: the application of the request"
    case .sessionHash: "bytea: SHA-256 of the session's token"
    case .claim(let path): "text: the token's claim \(path.joined(separator: "."))"
    case .input(let source, let type): "\(type.sql): \(source.description(names))"
    case .sortKey(let source, let index, _):
      "sort key \(index + 1) of the cursor in \(source.description(names))"
    case .sortKeyIsNull(let source, let index, _):
      "bool: whether sort key \(index + 1) of the cursor in \(source.description(names)) is null"
    case .keyValue(let source, let place, _, _):
      "value \(place + 1) of the key in \(source.description(names))"
    case .representation(let source, _, .kind):
      "the kind of key of each representation in \(source.description(names))"
    case .representation(let source, let keys, .value(let key, let column)):
      "\(keys.keys[key].columns[column].name) of each representation in \(source.description(names))"
    case .rowCount(let count, _): "bigint: \(count) rows of a page"
    case .call(let parameter): "\(parameter.sql): \(parameter.description)"
    case .event: "bigint: the event's node"
    case .told: "bigint: the transaction before which all events were delivered"
    case .ended: "bigint: the transaction before which all have ended"
    }
  }
}

extension InputSource {
  func description(_ names: [String]) -> String {
    switch self {
    case .string(let text): "\"\(text)\""
    case .int(let number): "\(number)"
    case .float(let number): "\(number)"
    case .variable(let index, let path):
      "variable $" + (index < names.count ? names[index] : "\(index)") + path.accessText
    case .list(let items): "[" + items.map { $0.description(names) }.joined(separator: ", ") + "]"
    case .constant(let value): "\(value)"
    case .object(let members):
      "{"
        + members.map { "\($0.name): \($0.source.description(names))" }.joined(separator: ", ")
        + "}"
    case .each(let list, let name): "\(name) of each in \(list.description(names))"
    }
  }
}

extension ObjectShape {
  package func lines(depth: Int) -> [String] {
    let indent = String(repeating: "  ", count: depth)
    return fields.flatMap { field in
      field.value.lines("\(indent)\(field.responseName)\(field.isNonNull ? "!" : "")", depth)
    }
  }
}

extension ValueShape {
  func lines(_ head: String, _ depth: Int) -> [String] {
    switch self {
    case .constant(let text): ["\(head): \(String(decoding: text, as: UTF8.self))"]
    case .leaf(let column, let format): ["\(head): \(format) in column \(column)"]
    case .leaves(let column, let format, _): ["\(head): list of \(format) in column \(column)"]
    case .record(let column, let record):
      ["\(head): record in column \(column)"] + record.lines(depth + 1)
    case .embedded(let when, let object):
      ["\(head): same record" + (when.map { " if column \($0)" } ?? "")]
        + object.lines(depth: depth + 1)
    case .list(let column, let record, _, _):
      ["\(head): records in column \(column)"] + record.lines(depth + 1)
    case .connection(let connection): ["\(head): connection"] + connection.lines(depth + 1)
    case .introspection: ["\(head): introspection"]
    case .secret: ["\(head): the request's token"]
    case .refused(let error): ["\(head): null, as \(error.message)"]
    case .marker: [head]
    }
  }
}

extension RecordShape {
  func lines(_ depth: Int) -> [String] {
    let indent = String(repeating: "  ", count: depth)
    switch self {
    case .object(let object): return object.lines(depth: depth)
    case .byTag(let column, let objects):
      return objects.sorted { $0.key < $1.key }.flatMap { tag, object in
        ["\(indent)tag \(tag) of column \(column)"] + object.lines(depth: depth + 1)
      }
    case .nested(let column, let record, _):
      return ["\(indent)record in column \(column)"] + record.lines(depth + 1)
    }
  }
}

extension ConnectionShape {
  func lines(_ depth: Int) -> [String] {
    let indent = String(repeating: "  ", count: depth)
    var lines: [String] = []
    if let itemsColumn {
      lines.append(
        "\(indent)page of \(pageSize) in column \(itemsColumn)\(isBackward ? ", from its end" : "")"
      )
    }
    if !keyColumns.isEmpty {
      lines.append(
        "\(indent)cursor of columns \(keyColumns.map(String.init).joined(separator: ", "))")
    }
    for part in parts {
      let head = "\(indent)\(part.responseName)"
      switch part.part {
      case .constant(let text): lines.append("\(head): \(String(decoding: text, as: UTF8.self))")
      case .value(let value): lines += value.lines(head, depth)
      case .nodes(let record): lines += ["\(head):"] + record.lines(depth + 1)
      case .pageInfo(_, let page):
        lines.append("\(head): page info")
        lines += page?.lines(depth + 1) ?? []
      case .marker: lines.append(head)
      case .edges(let edge):
        lines.append("\(head):")
        for field in edge.parts {
          let inner = "\(indent)  \(field.responseName)"
          switch field.part {
          case .constant(let text):
            lines.append("\(inner): \(String(decoding: text, as: UTF8.self))")
          case .cursor: lines.append("\(inner): cursor")
          case .marker: lines.append(inner)
          case .node(let record): lines += ["\(inner):"] + record.lines(depth + 2)
          case .field(let value): lines += value.lines(inner, depth + 2)
          }
        }
      }
    }
    return lines
  }
}
