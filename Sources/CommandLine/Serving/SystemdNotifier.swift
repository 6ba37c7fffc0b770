import Dispatch
import Glibc
import Synchronization

/// Reports the state of the service to the service manager, as in sd_notify(3): lines of
/// `NAME=value` in a datagram to the socket that `NOTIFY_SOCKET` names. Without one, it does
/// nothing.
final class SystemdNotifier: @unchecked Sendable {
  // @unchecked: `timer` is set by `watch`, which is called once, and then only held.
  private let socket: Int32
  /// The interval within which the watchdog expects a heartbeat; nil for never.
  let watchdogInterval: Duration?
  private let isReady = Atomic(false)
  private var timer: (any DispatchSourceTimer)?

  init(_ environment: [String: String]) {
    socket = environment["NOTIFY_SOCKET"].map(Self.connect) ?? -1
    // For another process of the service, perhaps.
    let isForUs = environment["WATCHDOG_PID"].map { $0 == "\(getpid())" } ?? true
    watchdogInterval =
      isForUs
      ? environment["WATCHDOG_USEC"].flatMap { Int64($0) }.flatMap {
        $0 > 0 ? .microseconds($0) : nil
      } : nil
  }

  deinit { if socket >= 0 { close(socket) } }

  /// - Parameter path: an absolute path, or one with `@` in place of the NUL of an abstract name.
  private static func connect(_ path: String) -> Int32 {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    var name = Array(path.utf8)
    guard let first = name.first, name.count < MemoryLayout.size(ofValue: address.sun_path),
      first == UInt8(ascii: "/") || first == UInt8(ascii: "@")
    else { return -1 }
    if first == UInt8(ascii: "@") { name[0] = 0 }
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: name) }
    let socket = Glibc.socket(
      AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
    guard socket >= 0 else { return -1 }
    let length = socklen_t(MemoryLayout<sa_family_t>.size + name.count)
    let isConnected = unsafe withUnsafePointer(to: address) {
      unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe Glibc.connect(socket, $0, length) == 0
      }
    }
    guard isConnected else {
      close(socket)
      return -1
    }
    return socket
  }

  /// Sends without blocking: a message that cannot be sent now is dropped.
  private func tell(_ lines: String...) {
    guard socket >= 0 else { return }
    let bytes = Array(lines.joined(separator: "\n").utf8)
    _ = unsafe bytes.withUnsafeBytes {
      unsafe send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
    }
  }

  /// Reports that the service is still starting, and extends its start timeout.
  func starting(_ status: String) {
    tell("STATUS=\(status)", "EXTEND_TIMEOUT_USEC=60000000")
  }

  func ready(_ status: String) {
    isReady.store(true, ordering: .releasing)
    tell("READY=1", "STATUS=\(status)", "MAINPID=\(getpid())")
  }

  /// Reports a reload around the work of SIGHUP.
  func reload(_ body: () -> Void) {
    guard isReady.load(ordering: .acquiring) else { return body() }
    var now = timespec()
    _ = unsafe clock_gettime(CLOCK_MONOTONIC, &now)
    tell("RELOADING=1", "MONOTONIC_USEC=\(now.tv_sec * 1_000_000 + now.tv_nsec / 1_000)")
    body()
    tell("READY=1")
  }

  func stopping(_ status: String) {
    isReady.store(false, ordering: .releasing)
    tell("STOPPING=1", "STATUS=\(status)")
  }

  /// Sends heartbeats, twice as often as required, as long as `askForLife` calls its argument. It
  /// is not called again before it has.
  func watch(_ askForLife: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void) {
    guard socket >= 0, let watchdogInterval else { return }
    let round = Watch(askForLife) { [weak self] in self?.tell("WATCHDOG=1") }
    let (seconds, attoseconds) = (watchdogInterval / 2).components
    let source = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "sociograph.watchdog"))
    source.schedule(
      deadline: .now(),
      repeating: max(Double(seconds) + Double(attoseconds) / 1e18, 0.001))
    source.setEventHandler { round.tick() }
    source.resume()
    timer = source
  }

  /// One heartbeat at a time.
  final class Watch: Sendable {
    private let isAsking = Atomic(false)
    private let ask: @Sendable (@escaping @Sendable () -> Void) -> Void
    private let lives: @Sendable () -> Void

    init(
      _ ask: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void,
      lives: @escaping @Sendable () -> Void
    ) {
      self.ask = ask
      self.lives = lives
    }

    func tick() {
      guard !isAsking.exchange(true, ordering: .acquiringAndReleasing) else { return }
      ask { [self] in
        isAsking.store(false, ordering: .releasing)
        lives()
      }
    }
  }
}
