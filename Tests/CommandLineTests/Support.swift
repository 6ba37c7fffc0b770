import Foundation
import Glibc
import HTTPTestSupport
import TestSupport
import Testing

/// `GET path` from a server of this machine.
func get(_ path: String, port: UInt16, headers: String = "") throws -> RawClient.Answer {
  let client = try RawClient(port: port)
  client.send("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\(headers)\r\n")
  return client.answer()
}

func post(_ body: String, port: UInt16, headers: String = "") throws -> RawClient.Answer {
  let client = try RawClient(port: port)
  client.send(
    "POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\(headers)"
      + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
  return client.answer()
}

/// Returns a port without a listener, below those that the system assigns by itself.
func freePort() -> UInt16 { .random(in: 20_000...29_999) }

/// A port that is taken for as long as this lives.
final class TakenPort {
  private let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
  private let port: UInt16

  var address: String { "127.0.0.1:\(port)" }

  struct Failure: Error {}

  /// Takes this port, or one that is free.
  init(_ wanted: UInt16 = 0) throws {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = wanted.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let descriptor = descriptor
    // Connections that a server has not finished are no reason to refuse.
    var reuse: Int32 = 1
    _ = unsafe setsockopt(
      descriptor, SOL_SOCKET, SO_REUSEADDR, &reuse, socklen_t(MemoryLayout<Int32>.size))
    let isBound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe bind(descriptor, $0, length) == 0 && listen(descriptor, 1) == 0
          && getsockname(descriptor, $0, &length) == 0
      }
    }
    port = UInt16(bigEndian: address.sin_port)
    guard isBound else { throw Failure() }
  }

  deinit { close(descriptor) }
}

/// A command of the machine, from beginning to end.
func command(_ arguments: String...) throws -> (status: Int32, output: String) {
  let process = Process()
  process.executableURL = URL(filePath: "/usr/bin/env")
  process.arguments = arguments
  let pipe = Pipe()
  process.standardOutput = pipe
  process.standardError = pipe
  process.standardInput = FileHandle.nullDevice
  try process.run()
  let output = pipe.fileHandleForReading.readDataToEndOfFile()
  process.waitUntilExit()
  return (process.terminationStatus, String(decoding: output, as: UTF8.self))
}

/// A certificate for a name, signed by its own key, in two files that are replaced.
func certify(_ name: String, certificate: String, key: String) throws {
  let made = try command(
    "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
    "-nodes", "-days", "2", "-subj", "/CN=\(name)", "-keyout", key, "-out", certificate)
  try #require(made.status == 0, "\(made.output)")
}
