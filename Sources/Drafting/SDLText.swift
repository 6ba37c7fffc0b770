import GraphQLLanguage

/// A file of SDL with the places of its definitions and their members, so that one of them can be
/// replaced and everything else, comments included, stays as it is.
struct SDLText {
  struct Definition {
    let name: String
    let isExtension: Bool
    /// The definition without its members, in the form in which definitions are compared.
    let head: String
    /// From its description, if it has one, to its last token.
    let range: Range<Int>
    /// The part of the range before the members.
    let headRange: Range<Int>
    let members: [Member]
    let syntax: TypeSystemTypeDefinition
  }

  struct Member {
    let name: String
    /// The member in the form in which members are compared.
    let form: String
    let range: Range<Int>
  }

  let name: String
  let bytes: [UInt8]
  let definitions: [Definition]

  /// - Throws: a `DraftFolder.Failure` that names the file.
  init(name: String, text: String) throws(DraftFolder.Failure) {
    self.name = name
    let source = Source(text)
    bytes = source.bytes
    let document: Document
    do {
      document = try Parser.parse(source, limits: .unlimited)
    } catch {
      let place = error.location
      throw DraftFolder.Failure(
        description: "\(name):\(place.line):\(place.column): \(error.message)")
    }
    var starts = document.definitions.map { Int($0.position.offset) }
    starts.append(bytes.count)
    var found: [Definition] = []
    for (place, definition) in document.definitions.enumerated() {
      guard case .type(let type) = definition else { continue }
      found.append(Self.definition(type, in: bytes, starts[place]..<starts[place + 1]))
    }
    definitions = found
  }

  private static func definition(
    _ type: TypeSystemTypeDefinition, in bytes: [UInt8], _ region: Range<Int>
  ) -> Definition {
    let end = lastToken(of: bytes, in: region)
    let members = type.memberParts
    let first = members.first?.offset
    let headEnd = first.map { lastToken(of: bytes, in: region.lowerBound..<$0) - 1 } ?? end
    var starts = members.map(\.offset)
    starts.append(max(end - 1, starts.last ?? 0))
    return Definition(
      name: type.name.text, isExtension: type.isExtension,
      head: Printer.print(.type(type.with(nil))), range: region.lowerBound..<end,
      headRange: region.lowerBound..<lastToken(of: bytes, in: region.lowerBound..<headEnd),
      members: members.enumerated().map { place, member in
        Member(
          name: member.name, form: Printer.print(.type(type.with(member.content))),
          range: starts[place]..<lastToken(of: bytes, in: starts[place]..<starts[place + 1]))
      }, syntax: type)
  }

  /// Returns the end of the last token in a region: what follows are spaces, commas and comments.
  private static func lastToken(of bytes: [UInt8], in region: Range<Int>) -> Int {
    var end = region.lowerBound
    var place = region.lowerBound
    let quote = UInt8(ascii: "\"")
    func isQuotes(_ place: Int) -> Bool {
      place + 2 < region.upperBound && bytes[place] == quote && bytes[place + 1] == quote
        && bytes[place + 2] == quote
    }
    while place < region.upperBound {
      switch bytes[place] {
      case UInt8(ascii: "#"):
        while place < region.upperBound, bytes[place] != 0x0A, bytes[place] != 0x0D { place += 1 }
        continue
      case 0x09, 0x0A, 0x0D, 0x20, UInt8(ascii: ","), 0xEF, 0xBB, 0xBF:
        place += 1
        continue
      case quote where isQuotes(place):
        place += 3
        while place < region.upperBound, !isQuotes(place) {
          place += bytes[place] == UInt8(ascii: "\\") && isQuotes(place + 1) ? 4 : 1
        }
        place += 3
      case quote:
        place += 1
        while place < region.upperBound, bytes[place] != quote {
          place += bytes[place] == UInt8(ascii: "\\") ? 2 : 1
        }
        place += 1
      default: place += 1
      }
      end = min(place, region.upperBound)
    }
    return end
  }

  func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

  /// Returns the file with parts replaced.
  func replacing(_ edits: [(range: Range<Int>, text: String)]) -> String {
    var result: [UInt8] = []
    var place = 0
    let sorted = edits.enumerated().sorted {
      ($0.element.range.lowerBound, $0.offset) < ($1.element.range.lowerBound, $1.offset)
    }
    for (_, edit) in sorted where edit.range.lowerBound >= place {
      result += bytes[place..<edit.range.lowerBound]
      result += Array(edit.text.utf8)
      place = edit.range.upperBound
    }
    result += bytes[place...]
    return String(decoding: result, as: UTF8.self)
  }

  /// Returns the lines that a part takes, if it is alone on them.
  func wholeLines(_ range: Range<Int>) -> Range<Int> {
    var start = range.lowerBound
    while start > 0, bytes[start - 1] == 0x20 || bytes[start - 1] == 0x09 { start -= 1 }
    guard start == 0 || bytes[start - 1] == 0x0A else { return range }
    var end = range.upperBound
    while end < bytes.count, bytes[end] == 0x20 || bytes[end] == 0x09 || bytes[end] == 0x0D {
      end += 1
    }
    guard end == bytes.count || bytes[end] == 0x0A else { return range }
    return start..<min(end + 1, bytes.count)
  }

  /// Returns the end of the line if only a comment follows, or else the place itself.
  func endOfLine(_ place: Int) -> Int {
    var end = place
    while end < bytes.count, bytes[end] == 0x20 || bytes[end] == 0x09 || bytes[end] == 0x2C {
      end += 1
    }
    guard end < bytes.count else { return place }
    if bytes[end] == UInt8(ascii: "#") {
      while end < bytes.count, bytes[end] != 0x0A { end += 1 }
      return end
    }
    return bytes[end] == 0x0A ? end : place
  }
}

extension TypeSystemTypeDefinition {
  /// The members with their places, each as the only content of the type.
  fileprivate var memberParts: [(name: String, offset: Int, content: Content)] {
    switch content {
    case .scalar, .union: []
    case .object(let interfaces, let fields):
      fields.map {
        ($0.name.text, Int($0.position.offset), .object(interfaces: interfaces, fields: [$0]))
      }
    case .interface(let interfaces, let fields):
      fields.map {
        ($0.name.text, Int($0.position.offset), .interface(interfaces: interfaces, fields: [$0]))
      }
    case .enum(let values):
      values.map { ($0.name.text, Int($0.position.offset), .enum(values: [$0])) }
    case .inputObject(let fields):
      fields.map { ($0.name.text, Int($0.position.offset), .inputObject(fields: [$0])) }
    }
  }

  /// Returns the type with other members; with a member, without its own description and
  /// directives.
  fileprivate func with(_ member: Content?) -> TypeSystemTypeDefinition {
    let empty: Content =
      switch content {
      case .object(let interfaces, _): .object(interfaces: interfaces, fields: [])
      case .interface(let interfaces, _): .interface(interfaces: interfaces, fields: [])
      case .enum: .enum(values: [])
      case .inputObject: .inputObject(fields: [])
      case .scalar, .union: content
      }
    return TypeSystemTypeDefinition(
      isExtension: isExtension, description: member == nil ? description : nil, name: name,
      directives: member == nil ? directives : [], content: member ?? empty, position: position)
  }
}

extension Definition {
  /// The position of its first token.
  fileprivate var position: Position {
    switch self {
    case .operation(let operation): operation.position
    case .fragment(let fragment): fragment.position
    case .schema(let schema): schema.position
    case .type(let type): type.position
    case .directive(let directive): directive.position
    }
  }
}

extension TypeSystemTypeDefinition {
  /// Returns the names of the types of a field and of its arguments; for an input field, of its
  /// type.
  func typeNames(of member: String) -> [String] {
    switch content {
    case .object(_, let fields), .interface(_, let fields):
      fields.filter { $0.name.text == member }.flatMap { field in
        [field.type.name] + field.arguments.map(\.type.name)
      }
    case .inputObject(let fields):
      fields.filter { $0.name.text == member }.map(\.type.name)
    case .scalar, .union, .enum: []
    }
  }
}

extension TypeSyntax {
  /// The type's name, without lists and `!`.
  var name: String { Printer.print(self).filter { !"[]!".contains($0) } }
}
