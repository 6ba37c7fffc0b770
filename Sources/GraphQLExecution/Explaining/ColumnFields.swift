import GraphQLPlanning

/// The fields of the response that the columns of a record become, by the output shape.
///
/// A nested select of a statement is a column of the record around it. So this type maps
/// PostgreSQL's plan back to fields: column 2 of the record is `viewer.feed.nodes`, whose own
/// record is ...
struct ColumnFields {
  struct Place {
    /// Response names from the root, such as `viewer.feed.nodes`.
    let path: String
    /// The contents of the records in the column.
    let contents: [(path: String, content: Content)]
  }

  enum Content {
    case record(RecordShape)
    /// One of several values in the same record, such as a field of an edge.
    case value(ValueShape)
  }

  private var columns: [Int: Place] = [:]

  init(_ object: ObjectShape, path: String = "") { add(object, path) }

  private init() {}

  /// Creates the fields of the records at a place.
  init(_ place: Place) {
    for (path, content) in place.contents {
      switch content {
      case .record(let record): add(record, path)
      case .value(let value): add(value, path)
      }
    }
  }

  subscript(column: Int) -> Place? { columns[column] }

  private mutating func add(_ object: ObjectShape, _ path: String) {
    for field in object.fields { add(field.value, Self.join(path, field.responseName)) }
  }

  private mutating func add(_ record: RecordShape, _ path: String) {
    switch record {
    case .object(let object): add(object, path)
    case .byTag(_, let objects):
      for (_, object) in objects.sorted(by: { $0.key < $1.key }) { add(object, path) }
    case .nested(let column, let record, _): note(column, path, .record(record))
    }
  }

  private mutating func add(_ value: ValueShape, _ path: String) {
    switch value {
    case .leaf(let column, _), .leaves(let column, _, _): note(column, path, nil)
    case .record(let column, let record), .list(let column, let record, _, _):
      note(column, path, .record(record))
    case .embedded(_, let object): add(object, path)
    case .connection(let connection): add(connection, path)
    case .constant, .introspection, .secret, .refused, .marker: break
    }
  }

  private mutating func add(_ connection: ConnectionShape, _ path: String) {
    if let items = connection.itemsColumn { note(items, path, nil) }
    for part in connection.parts {
      let inner = Self.join(path, part.responseName)
      switch part.part {
      case .value(let value): add(value, inner)
      case .nodes(let record): note(connection.itemsColumn, inner, .record(record))
      case .edges(let edge):
        for field in edge.parts {
          let path = Self.join(inner, field.responseName)
          switch field.part {
          case .node(let record): note(connection.itemsColumn, path, .record(record))
          case .field(let value):
            note(connection.itemsColumn, path, .value(value))
          case .constant, .cursor, .marker: break
          }
        }
      case .constant, .pageInfo, .marker: break
      }
    }
  }

  private mutating func note(_ column: Int?, _ path: String, _ content: Content?) {
    guard let column else { return }
    let known = columns[column]
    let more = content.map { [(path: path, content: $0)] } ?? []
    columns[column] = Place(path: known?.path ?? path, contents: (known?.contents ?? []) + more)
  }

  private static func join(_ path: String, _ name: String) -> String {
    path.isEmpty ? name : "\(path).\(name)"
  }
}
