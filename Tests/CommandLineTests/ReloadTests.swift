import Dispatch
import Foundation
import Glibc
import HTTPTestSupport
import Synchronization
import TestSupport
import Testing

@testable import CommandLine

/// Files that the operator names: at the start and again at SIGHUP they are held to one rule, and no file
/// stops the server from hearing its signals.
@Suite(.usesCluster) struct ReloadTests {
  private let folder: TemporaryFolder
  private let certificate: String
  private let key: String
  private let log: String
  private let port = freePort()

  init() throws {
    folder = try TemporaryFolder()
    (certificate, key) = (folder.path + "/certificate.pem", folder.path + "/key.pem")
    log = folder.path + "/log"
    try certify("first", certificate: certificate, key: key)
  }

  private func serve() throws -> ProgramRun {
    let run = try ProgramRun(
      [
        "serve", "--listen", "127.0.0.1:\(port)", "--tls-certificate", certificate, "--tls-key",
        key, "--log-file", log, "--shutdown-delay", "0s",
      ], environment: ["DATABASE_URL": try TestCluster.newDatabase(migrated: true)])
    #expect(run.prints("Serving https://"), "\(run.errors)")
    return run
  }

  private func shown() throws -> String {
    try command(
      "sh", "-c",
      "openssl s_client -connect 127.0.0.1:\(port) </dev/null 2>/dev/null "
        + "| openssl x509 -noout -subject"
    ).output
  }

  private func logged(_ text: String, in file: String? = nil) -> Bool {
    let bytes = FileManager.default.contents(atPath: file ?? log) ?? Data()
    return String(decoding: bytes, as: UTF8.self).contains(text)
  }

  private func replaceByFIFO(_ path: String) throws {
    try FileManager.default.removeItem(atPath: path)
    try #require(unsafe mkfifo(path, 0o600) == 0)
  }

  @Test func `a key that everybody may read is refused at SIGHUP as at the start`() throws {
    let run = try serve()
    try certify("second", certificate: certificate, key: key)
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: key)
    run.signal(SIGHUP)
    #expect(eventually { logged("SIGHUP: ") })
    #expect(logged("\"\(key)\" can be read by everybody"))
    #expect(try shown().contains("first"))
    try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: key)
    run.signal(SIGHUP)
    #expect(eventually { logged("reopened the log") })
    #expect(try shown().contains("second"))
    run.signal(SIGTERM)
    #expect(run.finish() == 0)
  }

  @Test(arguments: [\ReloadTests.certificate, \.key])
  func `a FIFO in the place of a certificate or key does not stop the signals`(
    file: KeyPath<ReloadTests, String> & Sendable
  ) throws {
    let run = try serve()
    try replaceByFIFO(self[keyPath: file])
    run.signal(SIGHUP)
    #expect(eventually { logged("\"\(self[keyPath: file])\" is not a regular file") })
    #expect(try shown().contains("first"))
    run.signal(SIGTERM)
    #expect(run.finish() == 0)
  }

  @Test func `a FIFO in the place of the log is taken when somebody reads it`() throws {
    let run = try serve()
    let old = log + ".1"
    try FileManager.default.moveItem(atPath: log, toPath: old)
    try #require(unsafe mkfifo(log, 0o600) == 0)
    run.signal(SIGHUP)
    #expect(eventually { logged("no process reads the FIFO", in: old) })
    // The log goes on where it was.
    let reader = unsafe open(log, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    defer { close(reader) }
    run.signal(SIGHUP)
    var text = ""
    #expect(
      eventually {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = unsafe buffer.withUnsafeMutableBytes {
          unsafe read(reader, $0.baseAddress, $0.count)
        }
        if count > 0 { text += String(decoding: buffer[..<count], as: UTF8.self) }
        return text.contains("reopened the log")
      })
    run.signal(SIGTERM)
    #expect(run.finish() == 0)
  }

  @Test(arguments: [
    "identity-providers", "jwt-keys", "sealing-key", "common-passwords", "trusted-documents",
    "tls-key", "tls-certificate",
  ]) func `a FIFO in the place of a file ends the start`(option: String) throws {
    let fifo = folder.path + "/fifo"
    try #require(unsafe mkfifo(fifo, 0o600) == 0)
    var arguments = ["serve", "--listen", "127.0.0.1:0", "--\(option)", fifo]
    if option == "tls-key" { arguments += ["--tls-certificate", certificate] }
    if option == "tls-certificate" { arguments += ["--tls-key", key] }
    let run = try ProgramRun.complete(arguments)
    #expect(run.status == 2 && run.errors.contains("--\(option)"), "\(run)")
    if option.hasPrefix("tls") { #expect(run.errors.contains("is not a regular file")) }
    #expect(run.errors.filter(\.isNewline).count == 1, "\(run.errors)")
  }

  @Test func `a log FIFO that nobody reads ends the start`() throws {
    let fifo = folder.path + "/fifo"
    try #require(unsafe mkfifo(fifo, 0o600) == 0)
    let run = try ProgramRun.complete([
      "serve", "--listen", "127.0.0.1:0", "--log-file", fifo,
    ])
    #expect(run.status == 1 && run.errors.contains("no process reads the FIFO"), "\(run)")
  }
}

/// The work of SIGHUP runs on another queue than the one that handles signals.
@Suite(.blocks) struct ReloadQueueTests {
  @Test func `a reload that hangs holds nobody up, and those asked for meanwhile are one`() {
    let (begun, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let count = Mutex(0)
    let reloads = Reloads {
      count.withLock { $0 += 1 }
      begun.signal()
      mayEnd.wait()
    }
    reloads.request()
    begun.wait()
    for _ in 0..<5 { reloads.request() }
    #expect(count.withLock { $0 } == 1)
    mayEnd.signal()
    begun.wait()
    mayEnd.signal()
    reloads.finish()
    #expect(count.withLock { $0 } == 2)
  }
}
