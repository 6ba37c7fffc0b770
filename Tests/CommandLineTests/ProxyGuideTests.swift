import Foundation
import HTTPTestSupport
import JSON
import TestSupport
import Testing

/// The configurations of docs/how-to/behind-a-proxy.md, with the packages of Debian.
@Suite(.usesCluster, .serialized) struct ProxyGuideTests {
  enum Proxy: String, CaseIterable, Sendable {
    case nginx, haproxy, caddy

    /// The configuration of the page, on a port of this machine.
    func configuration(_ page: Guide, server: UInt16, port: UInt16, in folder: String) throws
      -> String
    {
      let block = try #require(page.blocks.first { $0.language == rawValue })
      // HAProxy takes a file without a line feed at its end for one that was cut short.
      let text = block.text.replacing("127.0.0.1:8080", with: "127.0.0.1:\(server)") + "\n"
      switch self {
      case .nginx:
        let folders = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
          "\($0)_temp_path \(folder)/\($0);"
        }
        return
          "daemon off; error_log stderr; pid \(folder)/pid; events {}\nhttp {\naccess_log off;\n"
          + folders.joined(separator: "\n") + "\n"
          + text.replacing("listen 80;", with: "listen 127.0.0.1:\(port);") + "}\n"
      case .haproxy: return text.replacing("bind :80", with: "bind 127.0.0.1:\(port)")
      case .caddy:
        return "{\n  admin off\n}\n" + text.replacing(":80 {", with: "http://127.0.0.1:\(port) {")
      }
    }

    func arguments(_ file: String) -> [String] {
      switch self {
      case .nginx: ["/usr/sbin/nginx", "-c", file]
      case .haproxy: ["/usr/sbin/haproxy", "-db", "-f", file]
      case .caddy: ["/usr/bin/caddy", "run", "--config", file, "--adapter", "caddyfile"]
      }
    }
  }

  private func curl(_ arguments: [String]) throws -> String {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/curl")
    process.arguments = ["-sN", "--max-time", "20"] + arguments
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let bytes = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test(arguments: Proxy.allCases)
  func `queries, uploads, events, sockets and addresses pass the proxy`(_ proxy: Proxy) throws {
    let folder = try TemporaryFolder()
    let database = try TestCluster.newDatabase(migrated: true)
    try TestCluster.session(database).execute(
      "INSERT INTO app_user (username, display_name, name_key) VALUES ('ada', 'Ada', 'ada')")
    let token = try ProgramRun.complete(["session", "create", "ada", "--database", database])
      .output.trimmingCharacters(in: .newlines)
    let server = try ProgramRun([
      "serve", "--database", database, "--listen", "127.0.0.1:0", "--trusted-proxies", "127.0.0.1",
      "--photos", folder.path + "/photos", "--rate-limit-address", "500/1",
    ])
    defer {
      server.signal(SIGINT)
      _ = server.finish()
    }
    try #require(server.prints("Serving http://"), "\(server.errors)")
    let inner = try #require(
      server.output.firstMatch(of: #/Serving http:\/\/127\.0\.0\.1:(\d+)/#).flatMap {
        UInt16($0.1)
      })
    let port = freePort()
    let page = try Guide("docs/how-to/behind-a-proxy.md")
    let file = try folder.write(
      "configuration",
      proxy.configuration(page, server: inner, port: port, in: folder.path))
    let process = Process()
    let arguments = proxy.arguments(file)
    try #require(
      FileManager.default.isExecutableFile(atPath: arguments[0]),
      "There is no \(arguments[0]); script/setup test installs it.")
    process.executableURL = URL(filePath: arguments[0])
    process.arguments = Array(arguments.dropFirst())
    process.environment = ["PATH": "/usr/bin:/bin", "HOME": folder.path]
    process.standardError = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    defer {
      process.terminate()
      process.waitUntilExit()
    }
    let url = "http://127.0.0.1:\(port)"
    let json = ["-H", "Content-Type: application/json"]
    let signedIn = ["-H", "Authorization: Bearer \(token)"]
    func ask(_ query: String, _ more: [String] = []) throws -> String {
      try curl(json + more + [url + "/graphql", "-d", #"{"query": "\#(query)"}"#])
    }
    let viewer = "{ viewer { user { username } } }"
    #expect(eventually { (try? ask(viewer, signedIn).contains(#""username":"ada""#)) ?? false })
    // An upload that is larger than the body of an operation may be.
    let picture = TestPicture.photograph(width: 900, height: 800, seed: 3)
    try Data(picture).write(to: URL(filePath: folder.path + "/picture"))
    let kept = try curl(
      signedIn + [url + "/photos", "--data-binary", "@\(folder.path)/picture"])
    #expect(picture.count > 2 << 20 && kept.contains(#""width":900"#), "\(kept)")
    // Events come at once, not when the stream ends.
    let stream = try curl(
      json + signedIn + [
        "--max-time", "3", "-H", "Accept: text/event-stream", url + "/graphql", "-d",
        #"{"query": "subscription { postAdded { body } }"}"#,
      ])
    #expect(stream.hasPrefix(":"), "\(stream)")
    // The socket of these tests is not acknowledged through Caddy 2.6; others are.
    if proxy != .caddy {
      let socket = try GraphQLSocket(port: port)
      socket.subscribe("1", "{ __typename }")
      #expect(socket.message()?["payload"]?["data"]?["__typename"] == .string("Query"))
    }
    // Each client has points of its own, and none has those of an address that it claims to have.
    func left(_ address: String) throws -> Int {
      let answer = try ask(
        "{ circles(first: 50) { nodes { id } } }",
        ["--interface", address, "-H", "X-Forwarded-For: 198.51.100.\(Int.random(in: 1...250))"])
      return answer.firstMatch(of: #/"available":(\d+)/#).flatMap { Int($0.1) } ?? -1
    }
    let full = try left("127.0.0.2")
    let spent = try (0..<5).map { _ in try left("127.0.0.2") }.min() ?? 0
    #expect(full > 0 && spent < full)
    #expect(try left("127.0.0.3") > spent)
  }
}
