import Pictures

/// A picture of the demo data, as the server serves those of its users: `photos/NAME.png`.
package struct DemoPicture: Sendable {
  package let name: String
  /// The name of its file in the store.
  package let file: PictureName
  package let bytes: [UInt8]
  package let size: PictureSize

  /// Reads the pictures of a folder, in the order of their names; none if there is no folder. Files
  /// of other types, such as one about the origin of the pictures, are ignored.
  static func read(_ folder: String) throws(SetupError) -> [DemoPicture] {
    guard FileSystem.isDirectory(folder) else { return [] }
    guard let files = FileSystem.list(folder) else {
      throw SetupError("The folder \(folder) cannot be read.")
    }
    var pictures: [DemoPicture] = []
    for file in files {
      guard let dot = file.lastIndex(of: "."),
        PictureType(rawValue: String(file[file.index(after: dot)...])) != nil
      else { continue }
      let stem = String(file[..<dot])
      guard stem.utf8.allSatisfy(isNameByte) else {
        throw SetupError(
          "The name of the picture \(folder)/\(file) has more in it than a-z, 0-9, - and a dot.")
      }
      pictures.append(try picture(stem, "\(folder)/\(file)"))
    }
    return pictures
  }

  private static func picture(_ name: String, _ path: String) throws(SetupError) -> DemoPicture {
    guard let bytes = FileSystem.read(path, limit: 10 << 20) else {
      throw SetupError("The picture \(path) cannot be read, or has more than 10 MiB.")
    }
    guard let type = PictureType(bytes), let size = PictureSize(of: bytes, type) else {
      throw SetupError("The file \(path) is not a picture.")
    }
    return DemoPicture(name: name, file: PictureName(of: bytes, type), bytes: bytes, size: size)
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
      UInt8(ascii: "-"), UInt8(ascii: "."):
      true
    default: false
    }
  }

  /// The picture for the steps of the demo data: its name, its files in the store, its size.
  private var json: String {
    "{\"name\":\"\(name)\",\"file\":\"\(file)\",\"width\":\(size.width),\"height\":\(size.height)}"
  }

  static func json(_ pictures: [DemoPicture]) -> String {
    "[" + pictures.map(\.json).joined(separator: ",") + "]"
  }

  func keep(in store: any PictureStore) throws(SetupError) {
    do {
      try store.keep(bytes, as: file)
    } catch {
      throw SetupError("The picture \(name) cannot be kept: \(error).")
    }
  }
}
