import Glibc
import Synchronization

/// A listening socket for one loop.
///
/// On TCP every loop gets a separate socket (SO_REUSEPORT), and the system distributes the clients.
/// A Unix socket cannot be bound twice: its loops share one, through duplicated descriptors.
package final class HTTPListener: Sendable {
  package let address: HTTPAddress
  let descriptor: Int32
  private let unlinks: String?
  private let isClosed = Atomic(false)

  private init(address: HTTPAddress, descriptor: Int32, unlinks: String? = nil) {
    self.address = address
    self.descriptor = descriptor
    self.unlinks = unlinks
  }

  deinit { close() }

  /// The number of clients whose connections the system completes before they are accepted.
  static let queueLimit = 1024

  /// Closes the socket, even if others still hold the listener: until it is closed, the system
  /// completes connections of clients that no server accepts.
  func close() {
    guard !isClosed.exchange(true, ordering: .acquiringAndReleasing) else { return }
    // First, because another server may bind the path as soon as this socket is closed.
    if let unlinks { _ = unsafe unlink(unlinks) }
    Glibc.close(descriptor)
  }

  /// Listens with one socket for each of `count` loops. Resolving a host's name may block.
  package static func open(
    _ address: HTTPAddress, count: Int = 1
  ) throws(HTTPListenError) -> [HTTPListener] {
    switch address {
    case .tcp(let host, let port): try openTCP(host: host, port: port, count: count)
    case .unix(let path): try openUnix(path, count: count)
    }
  }

  private static func failure(
    _ address: HTTPAddress, _ code: Int32 = errno
  ) -> HTTPListenError {
    HTTPListenError(
      address: address, reason: unsafe String(cString: strerror(code)), isTaken: code == EADDRINUSE)
  }

  // MARK: TCP

  private static func openTCP(
    host: String, port: UInt16, count: Int
  ) throws(HTTPListenError) -> [HTTPListener] {
    let address = HTTPAddress.tcp(host: host, port: port)
    var (storage, length) = try resolve(host: host, port: port, address)
    // SO_REUSEPORT would let a second server share the port unnoticed: see first whether it is free.
    if port != 0 {
      let probe = try bound(storage, length, sharesPort: false, address)
      Glibc.close(probe)
    }
    var listeners: [HTTPListener] = []
    for _ in 0..<max(count, 1) {
      let descriptor = try bound(storage, length, sharesPort: true, address)
      let listener = HTTPListener(
        address: actual(descriptor, host: host, &storage), descriptor: descriptor)
      guard listen(descriptor, Int32(queueLimit)) == 0 else { throw failure(address) }
      listeners.append(listener)
    }
    return listeners
  }

  private static func resolve(
    host: String, port: UInt16, _ address: HTTPAddress
  ) throws(HTTPListenError) -> (sockaddr_storage, socklen_t) {
    var hints = unsafe addrinfo()
    unsafe hints.ai_family = host.isEmpty ? AF_INET6 : AF_UNSPEC
    unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    unsafe hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV
    var found: UnsafeMutablePointer<addrinfo>?
    let name = host.isEmpty ? "::" : host
    var code = unsafe getaddrinfo(name, String(port), &hints, &found)
    if code != 0, host.isEmpty {
      unsafe hints.ai_family = AF_INET
      code = unsafe getaddrinfo("0.0.0.0", String(port), &hints, &found)
    }
    guard code == 0, let first = unsafe found else {
      throw HTTPListenError(
        address: address, reason: unsafe String(cString: gai_strerror(code)))
    }
    defer { unsafe freeaddrinfo(found) }
    // An IPv4 address, when there is one: `localhost` is what people then type as 127.0.0.1.
    var chosen = unsafe first
    var next = unsafe Optional(first)
    while let entry = unsafe next {
      if unsafe entry.pointee.ai_family == AF_INET {
        unsafe chosen = entry
        break
      }
      unsafe next = unsafe entry.pointee.ai_next
    }
    var storage = sockaddr_storage()
    let length = unsafe min(Int(chosen.pointee.ai_addrlen), MemoryLayout<sockaddr_storage>.size)
    unsafe withUnsafeMutableBytes(of: &storage) {
      unsafe $0.copyMemory(
        from: UnsafeRawBufferPointer(start: chosen.pointee.ai_addr, count: length))
    }
    return (storage, socklen_t(length))
  }

  private static func bound(
    _ storage: sockaddr_storage, _ length: socklen_t, sharesPort: Bool, _ address: HTTPAddress
  ) throws(HTTPListenError) -> Int32 {
    let descriptor = try newSocket(Int32(storage.ss_family), address)
    var on: Int32 = 1
    let size = socklen_t(MemoryLayout<Int32>.size)
    _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, size)
    if sharesPort { _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEPORT, &on, size) }
    let result = unsafe withUnsafePointer(to: storage) {
      unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe bind(descriptor, $0, length)
      }
    }
    guard result == 0 else {
      let code = errno
      Glibc.close(descriptor)
      throw failure(address, code)
    }
    return descriptor
  }

  /// Returns the address with the port that the system chose, which later loops then bind.
  private static func actual(
    _ descriptor: Int32, host: String, _ storage: inout sockaddr_storage
  ) -> HTTPAddress {
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    _ = unsafe withUnsafeMutablePointer(to: &storage) {
      unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe getsockname(descriptor, $0, &length)
      }
    }
    let port = unsafe withUnsafeBytes(of: storage) {
      unsafe UInt16(bigEndian: $0.loadUnaligned(fromByteOffset: 2, as: UInt16.self))
    }
    return .tcp(host: host, port: port)
  }

  private static func newSocket(
    _ family: Int32, _ address: HTTPAddress
  ) throws(HTTPListenError) -> Int32 {
    let type = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
    let descriptor = socket(family, type, 0)
    guard descriptor >= 0 else { throw failure(address) }
    return descriptor
  }

  // MARK: Unix

  private static func openUnix(
    _ path: String, count: Int
  ) throws(HTTPListenError) -> [HTTPListener] {
    let address = HTTPAddress.unix(path: path)
    var name = sockaddr_un()
    name.sun_family = sa_family_t(AF_UNIX)
    guard path.utf8.count < MemoryLayout.size(ofValue: name.sun_path) else {
      throw HTTPListenError(address: address, reason: "The path is too long")
    }
    unsafe withUnsafeMutableBytes(of: &name.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
    removeIfAbandoned(path, name)
    let descriptor = try newSocket(AF_UNIX, address)
    let first = HTTPListener(address: address, descriptor: descriptor)
    guard unsafe withAddress(name, { unsafe bind(descriptor, $0, $1) }) == 0 else {
      throw failure(address)
    }
    // As with a port, everybody may connect: its folder says who gets there.
    _ = unsafe chmod(path, 0o666)
    guard listen(descriptor, Int32(queueLimit)) == 0 else { throw failure(address) }
    var listeners = [HTTPListener(address: address, descriptor: dup(descriptor), unlinks: path)]
    _ = fcntl(listeners[0].descriptor, F_SETFD, FD_CLOEXEC)
    for _ in 1..<max(count, 1) {
      let copy = dup(descriptor)
      guard copy >= 0 else { throw failure(address) }
      _ = fcntl(copy, F_SETFD, FD_CLOEXEC)
      listeners.append(HTTPListener(address: address, descriptor: copy))
    }
    _ = first
    return listeners
  }

  /// Removes a socket file at which no server responds: it is left over from a server that was
  /// killed.
  private static func removeIfAbandoned(_ path: String, _ name: sockaddr_un) {
    var status = stat()
    guard unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { return }
    let probe = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    guard probe >= 0 else { return }
    defer { Glibc.close(probe) }
    if unsafe withAddress(name, { unsafe connect(probe, $0, $1) }) != 0, errno == ECONNREFUSED {
      _ = unsafe unlink(path)
    }
  }

  // MARK: Asking

  /// Returns the response of a server at an address to `GET path`; nil if there is none. Blocks for
  /// at most three seconds in each step.
  package static func answer(_ address: HTTPAddress, to path: String) -> String? {
    guard let descriptor = connected(address) else { return nil }
    defer { Glibc.close(descriptor) }
    let request = Array("GET \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".utf8)
    let sent = unsafe request.withUnsafeBytes {
      unsafe send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
    }
    guard sent == request.count else { return nil }
    var answer: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while answer.count < 16 * 1024 {
      let count = unsafe buffer.withUnsafeMutableBytes {
        unsafe recv(descriptor, $0.baseAddress, $0.count, 0)
      }
      guard count > 0 else { break }
      answer += buffer[..<count]
    }
    return String(decoding: answer, as: UTF8.self)
  }

  private static func connected(_ address: HTTPAddress) -> Int32? {
    let family: Int32
    let found: (sockaddr_storage, socklen_t)?
    var name = sockaddr_un()
    switch address {
    case .tcp(let host, let port):
      found = try? resolve(host: host, port: port, address)
      family = Int32(found?.0.ss_family ?? 0)
    case .unix(let path):
      found = nil
      family = AF_UNIX
      name.sun_family = sa_family_t(AF_UNIX)
      guard path.utf8.count < MemoryLayout.size(ofValue: name.sun_path) else { return nil }
      unsafe withUnsafeMutableBytes(of: &name.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
    }
    let descriptor = socket(family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return nil }
    var patience = timeval(tv_sec: 3, tv_usec: 0)
    for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
      _ = unsafe setsockopt(
        descriptor, SOL_SOCKET, option, &patience, socklen_t(MemoryLayout<timeval>.size))
    }
    let result =
      if let (storage, length) = found {
        unsafe withUnsafePointer(to: storage) {
          unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            unsafe connect(descriptor, $0, length)
          }
        }
      } else {
        unsafe withAddress(name, { unsafe connect(descriptor, $0, $1) })
      }
    guard result == 0 else {
      Glibc.close(descriptor)
      return nil
    }
    return descriptor
  }

  private static func withAddress(
    _ name: sockaddr_un, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) -> Int32 {
    unsafe withUnsafePointer(to: name) {
      unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
  }
}
