import Foundation
import Glibc
import Synchronization

/// Stands between a server and PostgreSQL, passes everything on, and notes what the server sends: the
/// types of its messages, connection by connection.
final class WireTap: Sendable {
  /// One connection: the types of messages in order, such as `PBDES`, and the statements it prepared.
  struct Conversation: Sendable {
    var messages: [UInt8] = []
    var statements: [String] = []
  }

  /// The folder of its socket.
  let folder: String
  private let target: String
  private let listener: Int32
  private let conversations = Mutex<[Conversation]>([])

  /// - Parameter target: the folder of PostgreSQL's socket.
  init(target: String) throws {
    self.target = target
    folder = "/tmp/sociograph-tap-\(getpid())-\(UInt16.random(in: 0 ... .max))"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    guard unsafe Self.withAddress(of: folder, { unsafe bind(listener, $0, $1) }) == 0,
      listen(listener, 64) == 0
    else { throw GraphTestFailure("cannot listen in \(folder): error \(errno)") }
    Thread { [self] in
      while true {
        let client = accept(listener, nil, nil)
        guard client >= 0 else { return }
        serve(client)
      }
    }.start()
  }

  func stop() {
    shutdown(listener, Int32(SHUT_RDWR))
    close(listener)
    try? FileManager.default.removeItem(atPath: folder)
  }

  /// All there were so far.
  var all: [Conversation] { conversations.withLock { $0 } }

  private func serve(_ client: Int32) {
    let server = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    guard unsafe Self.withAddress(of: target, { unsafe connect(server, $0, $1) }) == 0 else {
      close(client)
      close(server)
      return
    }
    let index = conversations.withLock {
      $0.append(Conversation())
      return $0.count - 1
    }
    Thread {
      Self.pass(from: server, to: client) { _ in }
    }.start()
    Thread { [self] in
      var unread: [UInt8] = []
      var isStarted = false
      Self.pass(from: client, to: server) { bytes in
        unread += bytes
        note(&unread, &isStarted, of: index)
      }
    }.start()
  }

  /// Notes the messages that are whole and takes them away. The first one has no type.
  private func note(_ bytes: inout [UInt8], _ isStarted: inout Bool, of index: Int) {
    var start = 0
    while true {
      let head = isStarted ? 5 : 4
      guard bytes.count >= start + head else { break }
      let length = bytes[(start + head - 4)..<(start + head)].reduce(0) { $0 << 8 | Int($1) }
      let end = start + head - 4 + length
      guard bytes.count >= end else { break }
      if isStarted {
        let (type, body) = (bytes[start], bytes[(start + 5)..<end])
        conversations.withLock {
          $0[index].messages.append(type)
          if type == UInt8(ascii: "P") {
            $0[index].statements.append(String(decoding: body, as: UTF8.self))
          }
        }
      }
      isStarted = true
      start = end
    }
    bytes.removeFirst(start)
  }

  private static func pass(from source: Int32, to target: Int32, _ look: ([UInt8]) -> Void) {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = unsafe buffer.withUnsafeMutableBytes {
        unsafe recv(source, $0.baseAddress, $0.count, 0)
      }
      guard count > 0 else { break }
      // Noted before PostgreSQL can answer.
      look(Array(buffer[..<count]))
      var rest = buffer[..<count]
      while !rest.isEmpty {
        let sent = unsafe rest.withUnsafeBytes {
          unsafe send(target, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
        guard sent > 0 else { break }
        rest = rest.dropFirst(sent)
      }
      if !rest.isEmpty { break }
    }
    // The other thread sees its end, too. Descriptors are few here and end with the process.
    shutdown(source, Int32(SHUT_RDWR))
    shutdown(target, Int32(SHUT_RDWR))
  }

  private static func withAddress(
    of folder: String, _ use: (UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) -> Int32 {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let path = Array((folder + "/.s.PGSQL.5432").utf8)
    let isLongEnough = unsafe withUnsafeMutableBytes(of: &address.sun_path) { space in
      guard path.count < space.count else { return false }
      for (index, byte) in path.enumerated() { unsafe space[index] = byte }
      return true
    }
    guard isLongEnough else { return -1 }
    return unsafe withUnsafePointer(to: &address) {
      unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe use($0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
  }
}
