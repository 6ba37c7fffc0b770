/// Where pictures are kept. Called on threads that may wait, from several at a time; what is under a
/// name never changes.
package protocol PictureStore: Sendable {
  /// Keeps bytes so that they outlive the machine's next crash; done again, it changes nothing.
  func keep(_ bytes: [UInt8], as name: PictureName) throws(PictureStoreError)

  /// How many bytes it has; nil when there is none.
  func size(of name: PictureName) throws(PictureStoreError) -> Int?

  /// Some of its bytes, fewer where it ends before; nil when there is none.
  func bytes(of name: PictureName, in range: Range<Int>) throws(PictureStoreError) -> [UInt8]?

  /// Those kept before a moment of the past, this many seconds ago, and not again since.
  func names(olderThan seconds: Int) throws(PictureStoreError) -> [PictureName]

  /// Forgets what was begun as long ago and never kept.
  func removeDrafts(olderThan seconds: Int) throws(PictureStoreError)

  /// Forgets one, unless it was kept again meanwhile.
  func remove(_ name: PictureName, olderThan seconds: Int) throws(PictureStoreError)
}

package struct PictureStoreError: Error, CustomStringConvertible {
  package let description: String

  package init(_ description: String) { self.description = description }
}
