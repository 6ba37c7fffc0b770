/// The storage of pictures. Its methods are called on threads that may block, on several at a time.
/// The content of a name never changes.
package protocol PictureStore: Sendable {
  /// Stores bytes durably: they survive a crash of the machine. Storing them again changes nothing.
  func keep(_ bytes: [UInt8], as name: PictureName) throws(PictureStoreError)

  /// Returns the size in bytes; nil if there is no such picture.
  func size(of name: PictureName) throws(PictureStoreError) -> Int?

  /// Returns a range of the bytes, shortened at the end; nil if there is no such picture.
  func bytes(of name: PictureName, in range: Range<Int>) throws(PictureStoreError) -> [UInt8]?

  /// Returns the names that were last stored more than this many seconds ago.
  func names(olderThan seconds: Int) throws(PictureStoreError) -> [PictureName]

  /// Removes drafts that were begun more than this many seconds ago.
  func removeDrafts(olderThan seconds: Int) throws(PictureStoreError)

  /// Removes a picture, unless it was stored again meanwhile.
  func remove(_ name: PictureName, olderThan seconds: Int) throws(PictureStoreError)
}

package struct PictureStoreError: Error, CustomStringConvertible {
  package let description: String

  package init(_ description: String) { self.description = description }
}
