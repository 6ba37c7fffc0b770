import Foundation
import Glibc
import HTTPTestSupport
import TestSupport

/// Waits for an event, a minute at most.
func eventually(_ holds: () throws -> Bool) rethrows -> Bool {
  let deadline = ContinuousClock.now + .seconds(90)
  while ContinuousClock.now < deadline {
    if try holds() { return true }
    usleep(10_000)
  }
  return false
}

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

/// A port that nobody listens on, below those the system gives out by itself.
func freePort() -> UInt16 { .random(in: 20_000...29_999) }

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
