/// A finished statement: the text that PostgreSQL prepares, and the parameters that it mentions.
package struct SQLStatement: Sendable {
  package let text: String
  /// The parameters `$1`, `$2`, ..., in the order of their ordinals.
  package let parameters: [SQLParameter]
  /// Every mention in order: its range in the text, and its index in `parameters`.
  private let mentions: [(range: Range<Int>, place: Int)]

  init(_ fragment: SQLFragment) {
    var renderer = SQLRenderer()
    renderer.collectParameters(of: fragment)
    renderer.number()
    renderer.write(fragment, indentation: 0)
    text = String(decoding: renderer.bytes, as: UTF8.self)
    parameters = renderer.parameters
    mentions = renderer.mentions
  }

  /// The statement as a part of another: the ordinals are indices in `parameters`, and the layout
  /// stays.
  package var fragment: SQLFragment {
    let bytes = Array(text.utf8)
    var fragment = SQLFragment()
    var start = 0
    for (range, place) in mentions {
      fragment.append(
        verbatim: String(decoding: bytes[start..<range.lowerBound], as: UTF8.self))
      fragment.append(SQLParameter(ordinal: place, type: parameters[place].type))
      start = range.upperBound
    }
    fragment.append(verbatim: String(decoding: bytes[start...], as: UTF8.self))
    return fragment
  }
}

/// Writes a fragment: once to find its parameters, once to write the text.
private struct SQLRenderer {
  var bytes: [UInt8] = []
  var parameters: [SQLParameter] = []
  var mentions: [(range: Range<Int>, place: Int)] = []
  /// The indices of the parameters, by ordinal.
  private var places: [Int: Int] = [:]

  mutating func collectParameters(of fragment: SQLFragment) {
    for piece in fragment.pieces {
      switch piece {
      case .text, .verbatim: break
      case .parameter(let parameter):
        guard places.updateValue(0, forKey: parameter.ordinal) == nil else { continue }
        parameters.append(parameter)
      case .indented(let inner): collectParameters(of: inner)
      }
    }
  }

  mutating func number() {
    parameters.sort { $0.ordinal < $1.ordinal }
    for (place, parameter) in parameters.enumerated() { places[parameter.ordinal] = place }
  }

  mutating func write(_ fragment: SQLFragment, indentation: Int) {
    for piece in fragment.pieces {
      switch piece {
      case .text(let text):
        guard indentation > 0 else {
          bytes += text.utf8
          continue
        }
        for byte in text.utf8 {
          bytes.append(byte)
          guard byte == UInt8(ascii: "\n") else { continue }
          for _ in 0..<indentation { bytes.append(UInt8(ascii: " ")) }
        }
      case .verbatim(let text): bytes += text.utf8
      case .parameter(let parameter):
        let start = bytes.count
        let place = places[parameter.ordinal] ?? 0
        bytes += "$\(place + 1)".utf8
        if let type = parameter.type { bytes += "::\(type)".utf8 }
        mentions.append((start..<bytes.count, place))
      case .indented(let inner): write(inner, indentation: indentation + 2)
      }
    }
  }
}
