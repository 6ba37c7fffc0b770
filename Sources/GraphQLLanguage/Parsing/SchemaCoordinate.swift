/// The name of one part of a schema: `User`, `User.posts(first:)`, `@deprecated(reason:)`.
///
/// A coordinate contains no white space. GraphQL September 2025, 3.14 Schema Coordinates.
package enum SchemaCoordinate: Sendable, Hashable, CustomStringConvertible {
  case type(String)
  /// A field, an input field or an enum value.
  case member(type: String, name: String)
  case argument(type: String, field: String, name: String)
  case directive(String)
  case directiveArgument(directive: String, name: String)

  package var description: String {
    switch self {
    case .type(let type): type
    case .member(let type, let name): "\(type).\(name)"
    case .argument(let type, let field, let name): "\(type).\(field)(\(name):)"
    case .directive(let directive): "@\(directive)"
    case .directiveArgument(let directive, let name): "@\(directive)(\(name):)"
    }
  }

  package static func parse(_ source: Source) throws(SyntaxError) -> SchemaCoordinate {
    try SourceBytes.withBytes(of: source.bytes) { (bytes) throws(SyntaxError) in
      var reader = SchemaCoordinateReader(bytes: bytes, source: source)
      return try reader.read()
    }
  }
}

private struct SchemaCoordinateReader {
  let bytes: SourceBytes
  let source: Source
  var index = 0

  init(bytes: SourceBytes, source: Source) {
    self.bytes = bytes
    self.source = source
  }

  mutating func read() throws(SyntaxError) -> SchemaCoordinate {
    let coordinate: SchemaCoordinate
    if skip("@") {
      let directive = try readName()
      coordinate =
        try readArgument().map { .directiveArgument(directive: directive, name: $0) }
        ?? .directive(directive)
    } else {
      let type = try readName()
      if skip(".") {
        let member = try readName()
        coordinate =
          try readArgument().map { .argument(type: type, field: member, name: $0) }
          ?? .member(type: type, name: member)
      } else {
        coordinate = .type(type)
      }
    }
    guard index == bytes.count else { throw expected("<EOF>") }
    return coordinate
  }

  private mutating func readArgument() throws(SyntaxError) -> String? {
    guard skip("(") else { return nil }
    let name = try readName()
    guard skip(":") else { throw expected("\":\"") }
    guard skip(")") else { throw expected("\")\"") }
    return name
  }

  private mutating func skip(_ character: Unicode.Scalar) -> Bool {
    guard index < bytes.count, bytes[index] == UInt8(ascii: character) else { return false }
    index += 1
    return true
  }

  private mutating func readName() throws(SyntaxError) -> String {
    guard bytes[index].isNameStart else { throw expected("Name") }
    let start = index
    while bytes[index].isNameContinue { index += 1 }
    return bytes.text(start, index)
  }

  private func expected(_ what: String) -> SyntaxError {
    var found = "<EOF>"
    if bytes[index].isNameStart {
      var end = index
      while bytes[end].isNameContinue { end += 1 }
      found = "Name \"\(bytes.text(index, end))\""
    } else if index < bytes.count {
      let end = index + (bytes.codePoint(at: index)?.length ?? 1)
      found = "\"\(bytes.text(index, min(end, bytes.count)))\""
    }
    return SyntaxError(
      "Syntax Error: Expected \(what), found \(found).",
      at: source.location(of: Position(offset: Int32(truncatingIfNeeded: index))))
  }
}
