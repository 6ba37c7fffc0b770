import Foundation
import TestSupport
import Testing

@testable import Pictures

/// Pictures on disk.
@Suite(.blocks) struct PictureFolderTests {
  @Test func `what is kept is there, whole and in parts`() throws {
    let place = try TemporaryFolder()
    let folder = try PictureFolder(place.path + "/photos")
    let bytes = (0..<200_000).map { UInt8(truncatingIfNeeded: $0) }
    let name = PictureName(of: bytes, .jpeg)
    #expect(try folder.size(of: name) == nil)
    #expect(try folder.bytes(of: name, in: 0..<10) == nil)
    try folder.keep(bytes, as: name)
    try folder.keep(bytes, as: name)
    #expect(try folder.size(of: name) == bytes.count)
    #expect(try folder.bytes(of: name, in: 0..<bytes.count) == bytes)
    #expect(try folder.bytes(of: name, in: 100..<300) == Array(bytes[100..<300]))
    #expect(try folder.bytes(of: name, in: 199_990..<200_010) == Array(bytes.suffix(10)))
    // Another server over the same folder.
    #expect(try PictureFolder(place.path + "/photos").size(of: name) == bytes.count)
    #expect(try FileManager.default.contentsOfDirectory(atPath: place.path + "/photos/new") == [])
  }

  @Test func `what is old is listed and removed, unless it was kept again`() throws {
    let place = try TemporaryFolder()
    let folder = try PictureFolder(place.path)
    let old = PictureName(of: [1], .png)
    let young = PictureName(of: [2], .png)
    try folder.keep([1], as: old)
    try folder.keep([2], as: young)
    let file = "\(place.path)/\(old.hash.prefix(2))/\(old)"
    func age() throws {
      try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSinceNow: -7_200)], ofItemAtPath: file)
    }
    try age()
    #expect(try folder.names(olderThan: 3_600) == [old])
    try folder.remove(young, olderThan: 3_600)
    #expect(try folder.size(of: young) == 1)
    try folder.keep([1], as: old)
    try folder.remove(old, olderThan: 3_600)
    #expect(try folder.size(of: old) == 1)
    try age()
    try folder.remove(old, olderThan: 3_600)
    #expect(try folder.size(of: old) == nil)
    try folder.remove(old, olderThan: 3_600)
  }

  @Test func `a folder that cannot be had says so`() throws {
    let place = try TemporaryFolder()
    let file = try place.write("file", "")
    #expect(throws: PictureStoreError.self) { try PictureFolder(file) }
    #expect(throws: PictureStoreError.self) { try PictureFolder(place.path + "/a/b") }
  }
}
