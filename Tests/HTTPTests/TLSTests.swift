import Foundation
import HTTP
import HTTPTestSupport
import TestSupport
import Testing

/// TLS with a certificate made for the occasion, against the command-line tools of OpenSSL and curl.
@Suite(.blocks) struct TLSTests {
  final class Certificate {
    let folder: URL
    var certificate: String { folder.appending(path: "certificate.pem").path }
    var key: String { folder.appending(path: "key.pem").path }

    /// - Parameter key: `ec` or `rsa`.
    init(key kind: String = "ec") throws {
      folder = FileManager.default.temporaryDirectory.appending(
        path: "sociograph-tls-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      let made = try run(
        "openssl", "req", "-x509", "-newkey", kind, "-pkeyopt",
        kind == "ec" ? "ec_paramgen_curve:prime256v1" : "rsa_keygen_bits:2048",
        "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
        "-keyout", self.key, "-out", certificate)
      try #require(made.status == 0)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }
  }

  static func run(_ arguments: String...) throws -> (status: Int32, output: String) {
    try run(arguments)
  }

  static func run(_ arguments: [String]) throws -> (status: Int32, output: String) {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = arguments
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = FileHandle.nullDevice
    process.standardInput = FileHandle.nullDevice
    try process.run()
    let output = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: output, as: UTF8.self))
  }

  private func fixture(_ certificate: Certificate) throws -> HTTPServerFixture {
    let context = try TLSContext(
      certificateFile: certificate.certificate, keyFile: certificate.key)
    return try HTTPServerFixture {
      $0.tls = context
    } handler: { request, exchange in
      if request.path == "/large" {
        exchange.respond(
          contentType: "text/plain", body: [UInt8](repeating: 0x61, count: 5_000_000))
      } else {
        HTTPServerFixture.echo(request, exchange)
      }
    }
  }

  /// RFC 9325, 4.2: nothing without forward secrecy, nothing without authenticated encryption.
  @Test(arguments: [
    ("ec", "ECDHE-ECDSA-AES128-GCM-SHA256", true), ("ec", "ECDHE-ECDSA-CHACHA20-POLY1305", true),
    ("ec", "ECDHE-ECDSA-AES128-SHA256", false), ("ec", "ECDHE-ECDSA-AES256-SHA", false),
    ("rsa", "ECDHE-RSA-AES256-GCM-SHA384", true), ("rsa", "AES128-GCM-SHA256", false),
    ("rsa", "ECDHE-RSA-AES128-SHA", false), ("rsa", "DHE-RSA-AES128-GCM-SHA256", false),
  ])
  func `TLS 1.2 is spoken only with modern ciphers`(key: String, cipher: String, works: Bool) throws
  {
    let certificate = try Certificate(key: key)
    let fixture = try fixture(certificate)
    let (_, output) = try Self.run(
      "openssl", "s_client", "-connect", "127.0.0.1:\(fixture.port)", "-tls1_2", "-cipher",
      cipher + ":@SECLEVEL=0")
    #expect(output.contains("Cipher is \(cipher)") == works, "\(output)")
  }

  @Test(arguments: ["1.1", "2"])
  func `requests on one TLS connection are answered`(version: String) throws {
    let certificate = try Certificate()
    let fixture = try fixture(certificate)
    let url = "https://localhost:\(fixture.port)"
    let (status, output) = try Self.run(
      "curl", "--silent", "--show-error", "--ipv4", "--cacert", certificate.certificate, "--data",
      "hello", "\(url)/1", "\(url)/2", "--http\(version)", "--write-out",
      "[%{num_connects} %{http_version}]")
    #expect(status == 0)
    #expect(output == "post /1  hello[1 \(version)]post /2  hello[0 \(version)]")
  }

  @Test func `a large body goes both ways through TLS`() throws {
    let certificate = try Certificate()
    let fixture = try fixture(certificate)
    let body = certificate.folder.appending(path: "body")
    try Data(repeating: 0x62, count: 1_000_000).write(to: body)
    let (_, output) = try Self.run(
      "curl", "--silent", "--ipv4", "--cacert", certificate.certificate, "--data-binary",
      "@\(body.path)", "https://localhost:\(fixture.port)/large", "--output", "/dev/null",
      "--write-out", "%{http_code} %{size_upload} %{size_download}")
    #expect(output == "200 1000000 5000000")
  }

  @Test(arguments: ["-tls1_2", "-tls1_3"]) func `TLS from 1 dot 2 is spoken`(
    version: String
  ) throws {
    let certificate = try Certificate()
    let fixture = try fixture(certificate)
    #expect(
      try Self.run("openssl", "s_client", version, "-connect", "localhost:\(fixture.port)").status
        == 0)
  }

  @Test func `TLS older than 1 dot 2 is refused`() throws {
    let certificate = try Certificate()
    let fixture = try fixture(certificate)
    // Level 0 lets the client offer what it would not offer by itself.
    let (status, _) = try Self.run(
      "openssl", "s_client", "-tls1_1", "-cipher", "ALL@SECLEVEL=0", "-connect",
      "localhost:\(fixture.port)")
    #expect(status != 0)
    #expect(fixture.sees { if case .handshakeFailed = $0 { true } else { false } })
  }

  @Test func `plain HTTP on a TLS port is closed`() throws {
    let certificate = try Certificate()
    let fixture = try fixture(certificate)
    let client = try RawClient(port: fixture.port)
    client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    #expect(!client.rest().contains("get /"))
    #expect(client.isClosed)
  }

  @Test func `a client that never finishes its handshake is closed`() throws {
    let certificate = try Certificate()
    let context = try TLSContext(
      certificateFile: certificate.certificate, keyFile: certificate.key)
    let fixture = try HTTPServerFixture {
      $0.tls = context
      $0.limits.tlsHandshake = .milliseconds(100)
    }
    let client = try RawClient(port: fixture.port)
    client.send([0x16, 0x03])
    #expect(client.isClosedByServer())
  }

  @Test func `a certificate that is no certificate is refused by name`() throws {
    let certificate = try Certificate()
    #expect(throws: TLSError.self) {
      try TLSContext(certificateFile: certificate.key, keyFile: certificate.key)
    }
    let other = try Certificate()
    do {
      _ = try TLSContext(certificateFile: certificate.certificate, keyFile: other.key)
      Issue.record("A key of another certificate was accepted.")
    } catch {
      #expect(error.description.contains(other.key))
    }
  }
}
