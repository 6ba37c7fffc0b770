import Foundation
import Pictures
import Postgres
import SQL
import Server

/// The options of `serve` about pictures, and their folder.
struct PhotoSettings {
  /// The folder; nil for the one in the data of the embedded database.
  let folder: String?
  /// Whether the operator set one of these options.
  let isGiven: Bool
  /// Whether a command decides about photos.
  private let moderates: Bool
  let service: PictureService.Settings

  /// Reads the options.
  ///
  /// - Throws: a `UsageError` that names the setting at fault.
  init(_ options: CommandOptions) throws(UsageError) {
    folder = Self.folder(options)
    isGiven = options.text("photos") != nil
    moderates = options.text("photo-moderation") != nil
    var isFolder: ObjCBool = false
    if let folder, unsafe FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder),
      !isFolder.boolValue
    {
      throw UsageError("\(options.origin("photos")) must be a folder; \"\(folder)\" is a file.")
    }
    var service = PictureService.Settings()
    service.maker.maximumBytes =
      try options.int("maximum-photo-bytes", in: 1...1 << 27) ?? service.maker.maximumBytes
    service.maker.maximumPixels =
      try options.int("maximum-photo-pixels", in: 1...200_000_000) ?? service.maker.maximumPixels
    if let command = options.text("photo-moderation") {
      service.moderation = PictureModeration(
        command: command, environment: ProcessInfo.processInfo.environment)
    }
    self.service = service
  }

  /// Returns the folder as given, or the one in the data of the embedded database.
  static func folder(_ options: CommandOptions) -> String? {
    options.text("photos")
      ?? (options.text("database") == nil
        ? (options.text("data") ?? ".sociograph") + "/photos" : nil)
  }

  /// Returns the service; nil if there is no folder for pictures, or the graph does not support
  /// uploads.
  ///
  /// - Parameter session: a session of the role of mutations, once an embedded database has its
  ///   folder.
  func open(for session: PostgresSession) throws -> PictureService? {
    guard let folder else { return nil }
    let contract = try session.contract()
    guard contract.has(GraphContract.noteUpload), contract.has(GraphContract.photoAudience) else {
      // Nothing would be moderated.
      if moderates {
        throw UsageError(
          "--photo-moderation needs a graph that takes photos; this database has none.")
      }
      return nil
    }
    if PictureMaker.installedProgram == nil {
      Console.warn(
        "vipsthumbnail is not installed; photos are refused. \"script/setup run\" installs it")
    }
    do throws(PictureStoreError) {
      return PictureService(service, store: try PictureFolder(folder))
    } catch {
      throw CommandFailure("--photos: \(error).")
    }
  }
}
