import Glibc
import HTTP

/// Sends one request after another and waits for each answer: what a run does before its first
/// arrival.
package final class BlockingClient {
  private let endpoint: HTTPClientEndpoint
  private let head: [UInt8]
  private let patience: Int
  private let isInterrupted: () -> Bool
  private var socket: HTTPClientSocket?

  package init(
    _ endpoint: HTTPClientEndpoint, head: [UInt8], timeout: Int64,
    isInterrupted: @escaping () -> Bool = { false }
  ) {
    self.endpoint = endpoint
    self.head = head
    patience = Int(max(timeout / 1_000_000, 1))
    self.isInterrupted = isInterrupted
  }

  /// Opens a connection, to see whether the server is there.
  package func connect() throws(HTTPClientError) {
    guard socket == nil else { return }
    let socket = try endpoint.open()
    var waited = 0
    try wait(socket, POLLOUT, &waited)
    connecting: while true {
      switch socket.connect() {
      case .done: break connecting
      case .wantsRead: try wait(socket, POLLIN, &waited)
      case .wantsWrite: try wait(socket, POLLOUT, &waited)
      case .closed, .failed: throw HTTPClientError(reason: "The connection was refused")
      }
    }
    self.socket = socket
  }

  /// - Returns: the status and the body.
  package func ask(_ body: [UInt8], token: String?) throws(HTTPClientError) -> (Int, [UInt8]) {
    try connect()
    guard let socket else { throw HTTPClientError(reason: "There is no connection") }
    var request = head
    if let token { request += Array("Authorization: Bearer \(token)\r\n".utf8) }
    request += RequestWriter.length(body.count) + body
    var waited = 0
    var sent = 0
    while sent < request.count {
      let outcome = unsafe request.withUnsafeBytes {
        unsafe socket.write(UnsafeRawBufferPointer(rebasing: $0[sent...]))
      }
      switch outcome {
      case .done(let count): sent += count
      case .wantsRead: try wait(socket, POLLIN, &waited)
      case .wantsWrite: try wait(socket, POLLOUT, &waited)
      case .closed, .failed: throw HTTPClientError(reason: "The server ended the connection")
      }
    }
    var response = HTTPResponseReader()
    var buffer = [UInt8](repeating: 0, count: 64 * 1024)
    while true {
      let outcome = unsafe buffer.withUnsafeMutableBytes { buffer -> HTTPClientSocket.Outcome in
        let outcome = unsafe socket.read(into: buffer)
        if case .done(let count) = outcome {
          unsafe response.append(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        }
        return outcome
      }
      var progress = HTTPResponseReader.Progress.incomplete
      switch outcome {
      case .done: progress = response.advance()
      case .wantsRead: try wait(socket, POLLIN, &waited)
      case .wantsWrite: try wait(socket, POLLOUT, &waited)
      case .closed: progress = response.end()
      case .failed: progress = .malformed
      }
      switch progress {
      case .incomplete: continue
      case .malformed: throw HTTPClientError(reason: "The server sent no complete response")
      case .complete:
        if !response.keepsAlive { self.socket = nil }
        return (response.status, Array(response.body))
      }
    }
  }

  private func wait(
    _ socket: HTTPClientSocket, _ events: Int32, _ waited: inout Int
  ) throws(HTTPClientError) {
    var entry = pollfd(fd: socket.descriptor, events: Int16(events), revents: 0)
    while true {
      guard !isInterrupted() else { throw HTTPClientError(reason: "Interrupted") }
      guard waited < patience else { throw HTTPClientError(reason: "No answer in time") }
      let step = min(100, patience - waited)
      let count = unsafe poll(&entry, 1, Int32(step))
      if count > 0 { return }
      if count == 0 { waited += step }
    }
  }
}
