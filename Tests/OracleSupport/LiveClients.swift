import Foundation
import Glibc

/// Programs in Tests/Clients that use the server as others' programs do; see script/live-clients.
package enum LiveClients {
  /// The Python that has what they need; nil where it is not installed.
  package static let python: String? = {
    let home = ProcessInfo.processInfo.environment["HOME"] ?? "/"
    let cache = ProcessInfo.processInfo.environment["XDG_CACHE_HOME"] ?? home + "/.cache"
    let python = cache + "/sociograph/live-clients/bin/python3"
    return FileManager.default.isExecutableFile(atPath: python) ? python : nil
  }()

  /// Runs one to its end.
  package static func run(_ script: String, _ arguments: [String]) throws -> (
    status: Int32, output: String
  ) {
    let folder = "/" + #filePath.split(separator: "/").dropLast(2).joined(separator: "/")
    return try tool(python ?? "python3", [folder + "/Clients/" + script] + arguments)
  }

  /// One that runs while its test goes on.
  package final class Running {
    private let process = Process()
    private let pipe = Pipe()
    private var read = Data()

    fileprivate init(_ arguments: [String]) throws {
      process.executableURL = URL(filePath: "/usr/bin/env")
      process.arguments = arguments
      process.standardOutput = pipe
      process.standardError = pipe
      process.standardInput = FileHandle.nullDevice
      try process.run()
    }

    deinit { if process.isRunning { process.terminate() } }

    /// Waits for a text in its output, or for its end.
    package func wait(for text: String) {
      while read.range(of: Data(text.utf8)) == nil {
        let data = pipe.fileHandleForReading.availableData
        if data.isEmpty { return }
        read.append(data)
      }
    }

    /// Waits for its end.
    package func finish() -> (status: Int32, output: String) {
      read.append(pipe.fileHandleForReading.readDataToEndOfFile())
      process.waitUntilExit()
      return (process.terminationStatus, String(decoding: read, as: UTF8.self))
    }
  }

  /// A program that reads lines and writes lines.
  package final class Conversation {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private var said: [UInt8] = []

    package init(_ name: String, _ arguments: [String], environment: [String: String] = [:]) throws
    {
      process.executableURL = URL(filePath: "/usr/bin/env")
      process.arguments = environment.map { "\($0)=\($1)" } + [name] + arguments
      process.standardInput = input
      process.standardOutput = output
      process.standardError = output
      try process.run()
    }

    deinit { if process.isRunning { process.terminate() } }

    package func tell(_ line: String) throws {
      try input.fileHandleForWriting.write(contentsOf: Data("\(line)\n".utf8))
    }

    /// The next line that has a text in it; nil when none comes for a minute.
    package func line(with text: String) -> String? {
      let reader = output.fileHandleForReading
      while true {
        while let end = said.firstIndex(of: UInt8(ascii: "\n")) {
          let line = String(decoding: said[..<end], as: UTF8.self)
          said.removeSubrange(...end)
          if line.contains(text) { return line }
        }
        var entry = pollfd(fd: reader.fileDescriptor, events: Int16(POLLIN), revents: 0)
        guard unsafe poll(&entry, 1, 60_000) == 1 else { return nil }
        let data = reader.availableData
        if data.isEmpty { return nil }
        said += data
      }
    }
  }

  /// Debian's `node-ws` has it.
  package static let hasWscat = FileManager.default.isExecutableFile(atPath: "/usr/bin/wscat")

  package static func start(_ script: String, _ arguments: [String]) throws -> Running {
    let folder = "/" + #filePath.split(separator: "/").dropLast(2).joined(separator: "/")
    return try Running([python ?? "python3", folder + "/Clients/" + script] + arguments)
  }

  /// Runs a program that is on the path.
  package static func tool(_ name: String, _ arguments: [String]) throws -> (
    status: Int32, output: String
  ) {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [name] + arguments
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = pipe
    process.standardInput = FileHandle.nullDevice
    try process.run()
    let output = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: output, as: UTF8.self))
  }
}
