import Foundation
import HTTP

/// The in-browser IDE at `/`: a page around GraphiQL's files, which `script/setup` installs.
/// Everything comes from this server, so it works without a network. The page's own code is in
/// `Sources/Server/Page`, whose files are part of the program.
///
/// The page has no inline script, so its content security policy forbids inline scripts and needs
/// no nonce.
package enum GraphiQLPage {
  /// The files it needs, by the names they are installed under.
  static let files = scripts + styles
  /// The scripts, in the order in which they run.
  private static let scripts = [
    "react.min.js", "react-dom.min.js", "graphiql.min.js", "graphql-ws.min.js", "explorer.min.js",
  ]
  private static let styles = ["graphiql.min.css", "explorer.min.css"]
  private static let ownScripts = [
    ("plan.js", PackageResources.plan_js), ("start.js", PackageResources.start_js),
    ("events.js", PackageResources.events_js), ("page.js", PackageResources.page_js),
  ]
  private static let ownStyles = [("page.css", PackageResources.page_css)]

  /// The default folders of the files: next to the program, then where setup installs them.
  static var places: [String] {
    let program = Bundle.main.executablePath ?? ""
    let folder = URL(fileURLWithPath: program).resolvingSymlinksInPath().deletingLastPathComponent()
    return [
      folder.appendingPathComponent("../share/sociograph/graphiql").standardizedFileURL.path,
      "/usr/local/share/sociograph/graphiql",
    ]
  }

  /// The first of the places that has all files.
  static var installedFolder: String? { places.first { missingFile(in: $0) == nil } }

  package static func missingFile(in folder: String) -> String? {
    files.first { !FileManager.default.isReadableFile(atPath: "\(folder)/\($0)") }
  }

  /// `/` and everything it refers to, by path; the pages of an IDE that is missing or turned off
  /// say so.
  ///
  /// - Parameter example: the operation that the editor opens with.
  static func pages(
    _ setting: Setting, _ content: Content, explains: Bool, example: String
  ) -> [String: StaticPages.Page] {
    switch setting {
    case .off:
      return ["/": note("The API is at /graphql, its schema at /schema.graphql.\n")]
    case .installed:
      guard let folder = installedFolder else { return ["/": note(missing)] }
      return pages(from: folder, content, explains, example)
    case .folder(let folder): return pages(from: folder, content, explains, example)
    }
  }

  /// What the page says of the server.
  package struct Content: Sendable {
    /// The name of the database; nil for the embedded one.
    package var database: String?
    /// The name of the schema; nil for the one of the program.
    package var schema: String?
    /// The identities and examples of demo data, as JSON: `sql/demo/page.json`.
    package var demo: String?

    package init() {}

    fileprivate var title: String { database.map { "\($0) – Sociograph" } ?? "Sociograph" }
    fileprivate var served: String {
      let schema = schema.map { "The schema \"\($0)\"" } ?? "The social graph"
      return "\(schema) over "
        + (database.map { "the database \"\($0)\"." }
          ?? (demo == nil ? "an embedded database." : "demo data."))
    }
  }

  package enum Setting: Sendable {
    case off
    /// The page with the installed files, or with a note on how to install them.
    case installed
    case folder(String)
  }

  private static let missing = """
    GraphiQL is not installed on this machine.

    script/setup run installs it, or --graphiql DIR names a folder with its files:
    \(files.joined(separator: ", ")).
    The API itself is at /graphql, its schema at /schema.graphql.

    """

  private static func note(_ text: String) -> StaticPages.Page {
    StaticPages.Page(
      contentType: "text/plain; charset=utf-8", body: Array(text.utf8),
      headers: [HTTPField("Cache-Control", "no-cache")])
  }

  private static func pages(
    from folder: String, _ content: Content, _ explains: Bool, _ example: String
  ) -> [String: StaticPages.Page] {
    var contents = files.compactMap { name in
      FileManager.default.contents(atPath: "\(folder)/\(name)").map { (name, [UInt8]($0)) }
    }
    guard contents.count == files.count else { return ["/": note(missing)] }
    contents += ownScripts + ownStyles
    // Addresses are relative, for proxies that serve this under a path of theirs, and that of a file
    // changes with what is in it, so that it may be kept for ever.
    var addresses: [String: String] = [:]
    var pages: [String: StaticPages.Page] = [:]
    for (name, body) in contents {
      let address = "graphiql/\(fingerprint(body))/\(name)"
      addresses[name] = address
      pages["/" + address] = StaticPages.Page(
        contentType: name.hasSuffix(".css")
          ? "text/css; charset=utf-8" : "text/javascript; charset=utf-8",
        body: body,
        headers: [HTTPField("Cache-Control", "public, max-age=31536000, immutable")])
    }
    pages["/"] = StaticPages.Page(
      contentType: "text/html; charset=utf-8",
      body: Array(html(addresses, content, explains, example).utf8),
      headers: [
        HTTPField("Cache-Control", "no-cache"),
        HTTPField("Content-Security-Policy", policy),
        HTTPField("Referrer-Policy", "no-referrer"),
      ])
    return pages
  }

  /// FNV-1a in 64 bits: tells versions of a file apart, and is no defence.
  private static func fingerprint(_ bytes: [UInt8]) -> String {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    return String(hash, radix: 36)
  }

  /// The editor writes styles into elements; everything else is forbidden but files and requests
  /// of this server.
  private static let policy = [
    "default-src 'none'", "script-src 'self'", "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:", "font-src 'self' data:", "connect-src 'self'", "base-uri 'none'",
    "form-action 'none'", "frame-ancestors 'none'",
  ].joined(separator: "; ")

  private static func html(
    _ addresses: [String: String], _ content: Content, _ explains: Bool, _ example: String
  ) -> String {
    func escaped(_ text: String) -> String {
      text.replacing("&", with: "&amp;").replacing("\"", with: "&quot;")
        .replacing("<", with: "&lt;")
    }
    func data(_ name: String, _ text: String?) -> String {
      text.map { " data-\(name)=\"\(escaped($0))\"" } ?? ""
    }
    func address(_ name: String) -> String { addresses[name] ?? "" }
    let links = (styles + ownStyles.map(\.0)).map {
      "<link rel=\"stylesheet\" href=\"\(address($0))\">"
    }
    let runs = (scripts + ownScripts.map(\.0)).map {
      "<script defer src=\"\(address($0))\"></script>"
    }
    return """
      <!doctype html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <title>\(escaped(content.title))</title>
      <link rel="icon" href="data:,">
      \((links + runs).joined(separator: "\n"))
      </head>
      <body>
      <div id="graphiql"\(data("served", content.served))\(data("demo", content.demo))
        \(data("example", example))\(explains ? " data-explain" : "")>Loading …</div>
      <noscript>GraphiQL needs JavaScript. The API is at /graphql.</noscript>
      </body>
      </html>

      """
  }
}
