import Foundation
import Pictures
import Postgres
import Server

/// What `serve` is told about pictures, and where they are kept.
struct PhotoSettings {
  /// Nil: beside the data of the embedded database.
  let folder: String?
  private let isGiven: Bool
  let service: PictureService.Settings

  /// - Throws: `UsageError` naming the setting at fault.
  init(_ options: CommandOptions) throws(UsageError) {
    folder =
      options.text("photos")
      ?? (options.text("database") == nil
        ? (options.text("data") ?? ".sociograph") + "/photos" : nil)
    isGiven = options.text("photos") != nil
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

  /// Nil where none are taken: no folder to keep them in, or a graph that is not told of uploads.
  ///
  /// - Parameter session: of the role that mutations run under, once an embedded database has made its folder.
  func open(for session: PostgresSession) throws -> PictureService? {
    guard let folder else { return nil }
    let isTold =
      try session.execute(
        """
        SELECT to_regprocedure('note_upload(bigint, jsonb)') IS NOT NULL
          AND to_regprocedure('photo_audience(bigint, text)') IS NOT NULL
        """
      ).first?.first == "t"
    guard isTold else {
      guard isGiven else { return nil }
      throw CommandFailure(
        "--photos: the graph lacks a function: note_upload(viewer bigint, upload jsonb), which is told of "
          + "each, or photo_audience(viewer bigint, path text), which says who may have it.")
    }
    if PictureMaker.installedProgram == nil {
      Console.say(
        "warning: vipsthumbnail is not installed; photos will be refused (script/setup run installs it)"
      )
    }
    do throws(PictureStoreError) {
      return PictureService(service, store: try PictureFolder(folder))
    } catch {
      throw CommandFailure("--photos: \(error).")
    }
  }
}
