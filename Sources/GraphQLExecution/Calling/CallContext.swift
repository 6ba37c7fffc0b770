import Cryptography
import GraphQLPlanning
import GraphQLResponse
import GraphQLSchema

/// The sources of one call's parameters, in addition to the operation's variables. All attempts
/// share it, so they send the same parameters, except for the mode of the commit.
final class CallContext {
  let schema: Schema
  let scalarTypes: [TypeID: ParameterType]
  let key: RequestKey?
  private let findClient: () -> ClientIdentity
  /// Found out when something first asks for it.
  private(set) lazy var client = findClient()
  /// The results of the call's input transforms, in their order.
  var transforms: [TransformedInput] = []
  /// Whether the current attempt commits asynchronously, to be flushed by `GroupCommit`.
  var flushesLater = false
  private let makeSecret: () -> String
  /// Made when the first statement asks for it.
  private(set) lazy var secret = makeSecret()
  private(set) lazy var secretHash = SHA256.hash(Array(secret.utf8))

  init(
    schema: Schema, scalarTypes: [TypeID: ParameterType], key: RequestKey?,
    findClient: @escaping () -> ClientIdentity, makeSecret: @escaping () -> String
  ) {
    self.schema = schema
    self.scalarTypes = scalarTypes
    self.key = key
    self.findClient = findClient
    self.makeSecret = makeSecret
  }

  func prepared(_ value: PreparedValue) -> PreparedInputValue? {
    guard transforms.indices.contains(value.index) else { return nil }
    switch (value.part, transforms[value.index]) {
    case (.text, .password(let text, _)): return text.map { .text($0) }
    case (.renewed, .password(_, let renewed)): return renewed.map { .text($0) }
    case (.json, .json(let json)): return json.map { .json($0) }
    case (.bytes, .sealed(let bytes)): return bytes.map { .bytes($0) }
    default: return nil
    }
  }
}

enum PreparedInputValue {
  case text(String)
  case json(String)
  case bytes([UInt8])
}
