import GraphQLLanguage
import GraphQLResponse
import GraphQLSchema
import SQL

/// One root field of a mutation. The fields run in order, each in a separate transaction.
///
/// GraphQL September 2025, 6.2.2 Mutation.
package enum MutationField: Sendable {
  /// A constant, such as `__typename`.
  case constant(FieldFrame, json: [UInt8])
  case call(CallPlan)
  /// Arguments that cannot be used: an error of this field alone (6.4.1).
  case refused(FieldFrame, GraphQLError)

  package var frame: FieldFrame {
    switch self {
    case .constant(let frame, _), .refused(let frame, _): frame
    case .call(let plan): plan.frame
    }
  }
}

/// The properties of a root field in `data`.
package struct FieldFrame: Sendable {
  /// The bytes `"name":`, ready to be copied.
  package let key: [UInt8]
  package let responseName: String
  package let isNonNull: Bool

  init(_ responseName: String, isNonNull: Bool) {
    key = Array("\"\(responseName)\":".utf8)
    self.responseName = responseName
    self.isNonNull = isNonNull
  }
}

package struct PlannedStatement: Sendable {
  package let text: String
  /// The parameters in the order of `$1`, `$2`, ...
  package let parameters: [PlanParameter]
  /// The argument or input field that each parameter's value was given to, if known.
  package let places: [InputPlace?]
}

/// The plan of one field of a mutation: its function, then its payload's selection, which reads the
/// function's result from the setting `sociograph.result` of their transaction.
///
///     call -> selection        may be repeated
///     call                     rows are deleted, or written and the payload needs only their number
///     call -> keeping          `isOnce`: the call claims the request's key first, and the selection
///                              also stores the response
package final class CallPlan: Sendable {
  package let frame: FieldFrame
  package let definition: FieldDefinition
  /// The coordinate `Mutation.field`, for the log.
  package let coordinate: String
  /// The transformations of inputs before the call, in this order.
  package let transforms: [InputTransform]
  package let call: PlannedStatement
  /// The statement of the payload: one row with one column, its record. Nil if no part of it is in
  /// the database, or the call returns it.
  package let selection: PlannedStatement?
  /// The column of the last statement's row that is the payload's record; nil if there is none.
  package let recordColumn: Int?
  package let keeping: PlannedStatement?
  /// The statement that returns the stored response, and sets the result for the statement after
  /// it.
  package let replay: PlannedStatement?
  /// The statement that replaces the call if the response is not stored.
  package let again: PlannedStatement?
  /// The shape of the payload.
  package let shape: ObjectShape
  package let refusal: RefusalShape

  /// Whether the selection contains a token that is shown once.
  package let makesSecret: Bool
  package let mayEndOwnSession: Bool
  /// Whether it may end sessions, of the viewer or of others.
  package let mayEndSessions: Bool
  /// The action of a field that writes rows; nil for a call of a function. No key says that it was
  /// done, so one that may have been done is not repeated.
  package let write: WriteStorage.Action?
  /// Whether clients without a session or a signed token are refused.
  package let refusesAnonymous: Bool
  /// The members that are written; nil for a call of a function.
  package let writtenMembers: WrittenMembers?
  /// The rows that are written; one that stands for all of a list, if these are alike.
  package let rows: [WrittenRow]

  package var isOnce: Bool { keeping != nil }

  /// Returns the rows that are written in a request with these variables.
  package func rows(in variables: [InputValue?]) -> [WrittenRow] {
    rows.flatMap { $0.all(in: variables) }
  }

  init(
    frame: FieldFrame, definition: FieldDefinition, coordinate: String,
    transforms: [InputTransform], call: PlannedStatement,
    selection: PlannedStatement?, recordColumn: Int?, keeping: PlannedStatement?,
    replay: PlannedStatement?, again: PlannedStatement?, shape: ObjectShape,
    refusal: RefusalShape, makesSecret: Bool, mayEndOwnSession: Bool, mayEndSessions: Bool,
    write: WriteStorage.Action? = nil, refusesAnonymous: Bool = false,
    writtenMembers: WrittenMembers? = nil, rows: [WrittenRow] = []
  ) {
    self.rows = rows
    self.refusesAnonymous = refusesAnonymous
    self.writtenMembers = writtenMembers
    self.frame = frame
    self.definition = definition
    self.coordinate = coordinate
    self.transforms = transforms
    self.call = call
    self.selection = selection
    self.recordColumn = recordColumn
    self.keeping = keeping
    self.replay = replay
    self.again = again
    self.shape = shape
    self.refusal = refusal
    self.makesSecret = makesSecret
    self.mayEndOwnSession = mayEndOwnSession
    self.mayEndSessions = mayEndSessions
    self.write = write
  }
}

/// The payload of a mutation that was refused: only its user errors.
package struct RefusalShape: Sendable {
  package enum Value: Sendable {
    case constant([UInt8])
    case userErrors([UserErrorField])
  }

  package let fields: [(key: [UInt8], value: Value)]
  /// The default messages by code: the descriptions of the codes.
  package let messages: [String: String]
}

package struct UserErrorField: Sendable {
  package enum Part: Sendable, Equatable {
    case code, message, path, constraint, min, max
    case constant([UInt8])
  }

  package let key: [UInt8]
  package let part: Part
}

/// The sources of a call's parameters other than the operation's input.
package enum CallParameter: Sendable, Hashable {
  /// The key of the request: the client's idempotency key, or one of the server.
  case requestKey
  /// The SHA-256 of operation and variables.
  case bodyHash
  /// Whether the response is stored, because the client may repeat the request.
  case keepsAnswer
  /// Whether the transaction commits asynchronously, to be flushed with others.
  case flushesLater
  /// A token created for this request, which its response shows once.
  case secret
  /// The SHA-256 of the secret.
  case secretHash
  /// The SHA-256 of the request's session token; null without one.
  case sessionHash
  /// The client's `User-Agent`.
  case device
  /// The result of an input's transformation before the call.
  case prepared(PreparedValue)

  package var sql: SQLType {
    switch self {
    case .requestKey, .secret, .device: SQLType("text")
    case .bodyHash, .secretHash, .sessionHash: SQLType("bytea")
    case .keepsAnswer, .flushesLater: SQLType("boolean")
    case .prepared(let value):
      switch value.part {
      case .text, .renewed: SQLType("text")
      case .json: SQLType("jsonb")
      case .bytes: SQLType("bytea")
      }
    }
  }

  var description: String {
    switch self {
    case .requestKey: "the request's key"
    case .bodyHash: "SHA-256 of operation and variables"
    case .keepsAnswer: "whether the client sent a key"
    case .flushesLater: "whether the commit waits for the disk together with others"
    case .secret: "a token made for the request"
    case .secretHash: "its SHA-256"
    case .sessionHash: "SHA-256 of the session's token"
    case .device: "the client's User-Agent"
    case .prepared: "made from an input before the call"
    }
  }
}

/// The conversion of an input to `jsonb`: IDs as numbers (0 for an invalid ID), everything else as
/// the client gave it, without absent fields.
package indirect enum JSONForm: Sendable, Hashable {
  case value(TypeReference)
  /// An object of these members.
  case members([Member])

  package struct Member: Sendable, Hashable {
    package let name: String
    package let type: TypeReference
  }
}
