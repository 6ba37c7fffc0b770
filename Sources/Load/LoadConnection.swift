import EventLoops
import HTTP

/// One connection of the driver, which has one request at a time. It is used on the loop only.
final class LoadConnection {
  private let socket: HTTPClientSocket
  private let loop: EventLoop
  private unowned let driver: LoadDriver
  private var token: EventLoop.Token?
  private var response = HTTPResponseReader()
  private var unsent: [UInt8] = []
  private var sentBytes = 0
  private var interest: SocketReadiness = .writable
  private var isConnected = false
  private var isClosed = false
  /// The request that waits for its answer.
  var request: Int?

  init(_ socket: HTTPClientSocket, on loop: EventLoop, driver: LoadDriver) {
    self.socket = socket
    self.loop = loop
    self.driver = driver
  }

  /// Waits until the connection is there.
  func begin() throws {
    token = try loop.register(socket.descriptor, for: .writable) { [weak self] readiness in
      self?.serve(readiness)
    }
  }

  func close() {
    guard !isClosed else { return }
    isClosed = true
    if let token { loop.unregister(token) }
    token = nil
    socket.close()
  }

  private func wait(for readiness: SocketReadiness) {
    guard let token, interest != readiness else { return }
    interest = readiness
    loop.update(token, for: readiness)
  }

  private func serve(_ readiness: SocketReadiness) {
    guard !isClosed else { return }
    guard isConnected else { return connect() }
    if !unsent.isEmpty, !readiness.isDisjoint(with: [.writable, .error, .hungUp]) { write() }
    guard !isClosed, !readiness.isDisjoint(with: [.readable, .hungUp, .error]) else { return }
    read()
  }

  private func connect() {
    switch socket.connect() {
    case .done:
      isConnected = true
      wait(for: .readable)
      driver.ready(self, isNew: true)
    case .wantsRead: wait(for: .readable)
    case .wantsWrite: wait(for: .writable)
    case .closed, .failed: driver.refused(self)
    }
  }

  func send(_ bytes: [UInt8], for request: Int) {
    self.request = request
    response.reset()
    unsent = bytes
    sentBytes = 0
    write()
  }

  private func write() {
    while sentBytes < unsent.count {
      let outcome = unsafe unsent.withUnsafeBytes {
        unsafe socket.write(UnsafeRawBufferPointer(rebasing: $0[sentBytes...]))
      }
      switch outcome {
      case .done(let count): sentBytes += count
      case .wantsRead: return
      case .wantsWrite: return wait(for: [.readable, .writable])
      case .closed, .failed:
        // The end is told on the loop's next turn: the caller is in the middle of its own.
        unsent = []
        return loop.afterThisBatch { [weak self] in
          guard let self, !isClosed else { return }
          driver.ended(self)
        }
      }
    }
    if sentBytes > 0 { wait(for: .readable) }
    unsent = []
  }

  private func read() {
    var isFull = true
    while isFull, !isClosed {
      isFull = false
      let outcome = unsafe driver.readBuffer.withUnsafeMutableBytes {
        buffer -> HTTPClientSocket.Outcome in
        let outcome = unsafe socket.read(into: buffer)
        if case .done(let count) = outcome {
          unsafe response.append(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        }
        return outcome
      }
      switch outcome {
      case .done(let count):
        let now = Moment.now
        guard let index = request else { return driver.ended(self) }
        driver.receivedFirstByte(index, now)
        switch response.advance() {
        case .incomplete: isFull = socket.isSecure || count == driver.readBuffer.count
        case .malformed: return driver.ended(self)
        case .complete: return answer(index, at: now)
        }
      case .wantsRead: return
      case .wantsWrite: return wait(for: [.readable, .writable])
      case .closed:
        let now = Moment.now
        guard let index = request, response.end() == .complete else { return driver.ended(self) }
        return answer(index, at: now)
      case .failed: return driver.ended(self)
      }
    }
  }

  private func answer(_ index: Int, at moment: Moment) {
    request = nil
    driver.answered(
      index, Answer(response), receivedBytes: response.receivedBytes,
      isKept: response.keepsAlive, on: self, at: moment)
  }
}
