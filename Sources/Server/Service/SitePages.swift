import Foundation
import HTTP

/// The files of a folder that `sociograph schema docs` wrote, as pages under `/docs/`.
package struct SitePages: Sendable {
  let pages: [String: StaticPages.Page]

  /// The maximum size of all files, because they are kept in memory.
  private static let maximumBytes = 64 << 20

  private static let types = [
    "html": "text/html; charset=utf-8", "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
  ]

  private static let policy = [
    "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src data:",
    "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
  ].joined(separator: "; ")

  private static let headers = [
    HTTPField("Cache-Control", "no-cache"), HTTPField("Content-Security-Policy", policy),
    HTTPField("Referrer-Policy", "no-referrer"),
  ]

  /// Reads the files of a folder.
  ///
  /// - Throws: a `CommandFailure` if it has no `index.html`, or too much.
  package init(folder: String) throws(CommandFailure) {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    var pages: [String: StaticPages.Page] = [:]
    var size = 0
    for name in names {
      guard let suffix = name.split(separator: ".").last, let type = Self.types[String(suffix)]
      else { continue }
      guard let data = FileManager.default.contents(atPath: "\(folder)/\(name)") else {
        throw CommandFailure("the file \"\(folder)/\(name)\" cannot be read.")
      }
      size += data.count
      guard size <= Self.maximumBytes else {
        throw CommandFailure("\"\(folder)\" has more than \(Self.maximumBytes >> 20) MiB of pages.")
      }
      pages["/docs/\(name)"] = StaticPages.Page(
        contentType: type, body: [UInt8](data), headers: Self.headers)
    }
    guard let index = pages["/docs/index.html"] else {
      throw CommandFailure(
        "\"\(folder)\" has no index.html; \"sociograph schema docs \(folder)\" writes it.")
    }
    pages["/docs/"] = index
    // Links of the pages are relative to the folder.
    pages["/docs"] = StaticPages.Page(
      contentType: "text/html; charset=utf-8",
      body: Array("<!doctype html><meta http-equiv=\"refresh\" content=\"0;url=docs/\">\n".utf8),
      headers: Self.headers)
    self.pages = pages
  }
}
