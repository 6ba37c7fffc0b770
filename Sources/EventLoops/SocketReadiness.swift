import CEventLoops

/// The events that a socket is ready for, or registered for. It is public, so that other modules
/// inline it.
public struct SocketReadiness: OptionSet, Sendable {
  public let rawValue: UInt32

  @inlinable public init(rawValue: UInt32) { self.rawValue = rawValue }

  @inlinable public static var readable: Self { Self(rawValue: UInt32(EVENT_READABLE)) }
  @inlinable public static var writable: Self { Self(rawValue: UInt32(EVENT_WRITABLE)) }
  /// The peer closed its sending half. It is reported only if registered for.
  @inlinable public static var peerClosed: Self { Self(rawValue: UInt32(EVENT_PEER_CLOSED)) }
  @inlinable public static var error: Self { Self(rawValue: UInt32(EVENT_ERROR)) }
  @inlinable public static var hungUp: Self { Self(rawValue: UInt32(EVENT_HUNG_UP)) }
}
