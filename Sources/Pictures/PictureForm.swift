/// A smaller form of a stored picture: all of it, or a square cut from its middle. A form is made when
/// it is first read, and then stored beside the picture.
package struct PictureForm: Hashable, Sendable {
  package enum Shape: String, Sendable {
    case whole = "w"
    case square = "s"
  }

  package let shape: Shape
  /// The width in pixels.
  package let width: Int

  package init(_ shape: Shape, width: Int) {
    self.shape = shape
    self.width = width
  }

  /// Parses the end of a name, `w320`; nil if it is malformed.
  init?(_ text: some StringProtocol) {
    guard let first = text.first, let shape = Shape(rawValue: String(first)) else { return nil }
    let digits = text.dropFirst()
    guard (1...4).contains(digits.utf8.count), digits.first != "0",
      digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
      let width = Int(digits)
    else { return nil }
    self.init(shape, width: width)
  }

  /// Returns the forms of a picture, besides itself. The graph's function `photo_form` counts the same.
  package static func all(of size: PictureSize) -> [PictureForm] {
    let side = min(size.width, size.height)
    var squares = [160, 320, 640].filter { $0 < side }
    if side <= 640, size.width != size.height { squares.append(side) }
    return [160, 320, 640, 1280].filter { $0 < size.width }.map { PictureForm(.whole, width: $0) }
      + squares.map { PictureForm(.square, width: $0) }
  }

  /// Returns the size of this form of a picture.
  package func size(of picture: PictureSize) -> PictureSize {
    switch shape {
    case .square: PictureSize(width: width, height: width)
    case .whole:
      PictureSize(
        width: width,
        height: max(1, (2 * picture.height * width + picture.width) / (2 * picture.width)))
    }
  }
}

extension PictureForm: CustomStringConvertible {
  package var description: String { "\(shape.rawValue)\(width)" }
}
