import Dispatch
import Foundation
import Glibc
import Synchronization

/// Writes lines to a descriptor on a dedicated thread, so that a blocked output delays no request.
///
/// Unwritten lines wait in a bounded buffer. A line that does not fit is dropped and counted. The
/// count is written when there is capacity again.
package final class LogWriter: Sendable {
  /// The writer of the process's log to standard error.
  package static let standardError = LogWriter(descriptor: STDERR_FILENO)

  private struct State {
    var buffer: [UInt8] = []
    /// Something is taken out of the buffer and not yet written.
    var isWriting = false
    /// The number of dropped lines since the last report of it.
    var lost = 0
    var format = LogLine.Format.text
    var counts = Counts()
  }

  /// Lines since the start.
  package struct Counts: Sendable {
    package var taken = 0
    package var lost = 0
  }

  private let descriptor: Int32
  private let maximumBytes: Int
  private let state = Mutex(State())
  private let isFilled = DispatchSemaphore(value: 0)

  /// - Parameters:
  ///   - descriptor: left open.
  ///   - maximumBytes: waiting to be written.
  package init(descriptor: Int32, maximumBytes: Int = 1 << 20) {
    self.descriptor = descriptor
    self.maximumBytes = maximumBytes
    // Its own, as it may be held up for ever: Dispatch has few.
    let thread = Thread { [self] in run() }
    thread.name = "log"
    thread.start()
  }

  /// Takes a line or counts it; waits for nothing but another that is being taken.
  package func write(_ line: LogLine, as format: LogLine.Format) {
    write(line.bytes(format), as: format)
  }

  /// Writes a formatted line, or drops and counts it.
  ///
  /// - Parameter format: the format of the line that reports dropped lines.
  package func write(_ bytes: [UInt8], as format: LogLine.Format) {
    let wasEmpty = state.withLock { state in
      guard state.buffer.count + bytes.count <= maximumBytes else {
        state.lost += 1
        state.counts.lost += 1
        return false
      }
      let wasEmpty = state.buffer.isEmpty
      state.buffer += bytes
      state.format = format
      state.counts.taken += 1
      return wasEmpty
    }
    if wasEmpty { isFilled.signal() }
  }

  package var counts: Counts { state.withLock { $0.counts } }

  /// Waits until all is written, but not for long: before the process ends.
  package func flush(patience: Duration = .seconds(1)) {
    let deadline = ContinuousClock.now + patience
    while state.withLock({ $0.isWriting || !$0.buffer.isEmpty }), ContinuousClock.now < deadline {
      usleep(1_000)
    }
  }

  private func run() {
    while true {
      isFilled.wait()
      let (bytes, lost, format) = state.withLock { state in
        var bytes: [UInt8] = []
        swap(&bytes, &state.buffer)
        let lost = state.lost
        state.lost = 0
        state.isWriting = true
        return (bytes, lost, state.format)
      }
      writeOut(bytes)
      if lost > 0 {
        writeOut(
          LogLine(
            .warning, "log", "dropped lines because the output was blocked",
            [("count", .number(lost))]
          ).bytes(format))
      }
      state.withLock { $0.isWriting = false }
    }
  }

  /// Writes bytes, and waits until the descriptor accepts them. If it fails, the bytes are lost.
  private func writeOut(_ bytes: [UInt8]) {
    var start = 0
    while start < bytes.count {
      let count = unsafe bytes.withUnsafeBytes {
        unsafe Glibc.write(descriptor, $0.baseAddress.map { unsafe $0 + start }, $0.count - start)
      }
      if count > 0 {
        start += count
        continue
      }
      switch errno {
      case EINTR: continue
      case EAGAIN:
        // Another process has made the descriptor non-blocking.
        var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = unsafe poll(&entry, 1, 1_000)
      default: return
      }
    }
  }
}
