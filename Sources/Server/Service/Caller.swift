import Accounts
import GraphQLExecution
import GraphQLResponse
import HTTP
import Postgres

/// The sender of operations, from the header of a request or the handshake of a socket.
final class Caller {
  let credential: Credential
  /// The client that planning and connections count for, if the caller is anonymous.
  let client: PoolClient
  /// The address whose rate-limit points an anonymous operation spends, or nil if none are counted.
  let chargedAddress: HTTPPeer?
  private let address: HTTPPeer
  /// The client's whole address, for the log.
  private(set) var peer = HTTPPeer.local
  private let isAddressShared: Bool
  private let device: String?
  /// The languages and the application that the client names.
  let preferences: RequestPreferences
  /// Whether its responses report their cost, even if it spends no points.
  let asksForCost: Bool
  /// The program, as Apollo's clients name it.
  let program: ClientProgram
  /// The position that the client has from an earlier response.
  var position: LogPosition?
  /// The number of the program in the register of the loop; nil before the first execution.
  var programNumber: Int?

  /// The identity that functions of the graph can read. Wrong passwords are counted by it.
  private(set) lazy var identity: ClientIdentity = {
    var identity = ClientIdentity()
    identity.address = "\(address)"
    identity.isAddressShared = isAddressShared
    identity.device = device
    if case .token(let token) = credential { identity.sessionHash = token.hash }
    return identity
  }()

  init(
    _ credential: Credential, client: PoolClient, chargedAddress: HTTPPeer?, address: HTTPPeer,
    isAddressShared: Bool, device: String?, preferences: RequestPreferences,
    asksForCost: Bool = false, program: ClientProgram = ClientProgram(name: nil, version: nil)
  ) {
    self.credential = credential
    self.client = client
    self.chargedAddress = chargedAddress
    self.address = address
    self.isAddressShared = isAddressShared
    self.device = device
    self.preferences = preferences
    self.asksForCost = asksForCost
    self.program = program
  }

  /// Creates the caller of a request.
  ///
  /// - Parameter countsPoints: whether the server counts rate-limit points.
  convenience init(of request: HTTPRequest, proxies: TrustedProxies, countsPoints: Bool) {
    let peer = proxies.client(of: request)
    let address = peer.accountable
    let bits = address.bits
    // From this machine, and not through a trusted proxy: the operator, or a proxy that does not
    // identify its clients.
    let isShared = request.peer.isOfThisMachine && !proxies.isSender(of: request)
    self.init(
      Credential(of: request), client: .address(high: bits.high, low: bits.low),
      chargedAddress: countsPoints && !isShared ? address : nil, address: address,
      isAddressShared: isShared, device: request.header("user-agent"),
      preferences: RequestPreferences(
        acceptLanguage: request.header("accept-language"),
        app: request.header("sociograph-app")),
      asksForCost: request.asksForCost,
      program: ClientProgram(
        name: request.header("apollographql-client-name"),
        version: request.header("apollographql-client-version")))
    self.peer = peer
  }

  /// Returns the same client with another credential.
  func showing(_ credential: Credential) -> Caller {
    let caller = Caller(
      credential, client: client, chargedAddress: chargedAddress, address: address,
      isAddressShared: isAddressShared, device: device, preferences: preferences,
      asksForCost: asksForCost, program: program)
    caller.position = position
    caller.peer = peer
    return caller
  }
}

/// The credential of a client.
enum Credential: Equatable {
  case none
  /// Something that cannot be a token.
  case malformed
  /// Longer than a token can be.
  case tooLong
  case token(SessionToken)

  init(of request: HTTPRequest) {
    guard let value = request.headerBytes("authorization") else {
      self = .none
      return
    }
    self.init(value)
  }

  /// Creates a credential from the text of the `Authorization` header.
  init(authorization text: String) {
    self.init(Array(text.utf8)[...])
  }

  private init(_ value: ArraySlice<UInt8>) {
    if let token = SessionToken(authorization: value) {
      self = .token(token)
    } else {
      self = SessionToken.isTooLong(authorization: value) ? .tooLong : .malformed
    }
  }
}
