import GraphQLLanguage
import GraphQLResponse
import GraphQLSchema
import SQL

/// One root field of a mutation. They are run in order, each in a transaction of its own.
///
/// GraphQL September 2025, 6.2.2 Mutation.
package enum MutationField: Sendable {
  /// `__typename`.
  case constant(FieldFrame, json: [UInt8])
  case call(CallPlan)
  /// Its arguments cannot be used: an error of this field alone (6.4.1).
  case refused(FieldFrame, GraphQLError)

  package var frame: FieldFrame {
    switch self {
    case .constant(let frame, _), .refused(let frame, _): frame
    case .call(let plan): plan.frame
    }
  }
}

/// How a root field stands in `data`.
package struct FieldFrame: Sendable {
  /// `"name":`, ready to be copied.
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
  /// In the order of `$1`, `$2`, ...
  package let parameters: [PlanParameter]
  /// What each of them was given to, where that is known.
  package let places: [InputPlace?]
}

/// How one field of a mutation is run: its function, then its payload's selection, which reads what
/// the function returned from the setting `sociograph.result` of their transaction.
///
///     call -> selection        repeated without harm
///     call -> keeping          `isOnce`: the call claims the request's key first, and the selection
///                              also keeps the answer
package final class CallPlan: Sendable {
  package let frame: FieldFrame
  package let definition: FieldDefinition
  /// `Mutation.field`, for the log.
  package let coordinate: String
  /// Done before the call, in this order.
  package let preparations: [CallPreparation]
  package let call: PlannedStatement
  /// One row with one column, the payload's record. Nil when nothing of it is in the database.
  package let selection: PlannedStatement?
  package let keeping: PlannedStatement?
  /// Gives the answer that was kept, and the result to the statement behind it.
  package let replay: PlannedStatement?
  /// In place of the call when the answer is not kept.
  package let again: PlannedStatement?
  /// The payload's.
  package let shape: ObjectShape
  package let refusal: RefusalShape

  /// Of the selections of a token that is shown once.
  package let makesSecret: Bool
  package let mayEndSessions: Bool

  package var isOnce: Bool { keeping != nil }

  init(
    frame: FieldFrame, definition: FieldDefinition, coordinate: String,
    preparations: [CallPreparation], call: PlannedStatement,
    selection: PlannedStatement?, keeping: PlannedStatement?, replay: PlannedStatement?,
    again: PlannedStatement?, shape: ObjectShape, refusal: RefusalShape, makesSecret: Bool,
    mayEndSessions: Bool
  ) {
    self.frame = frame
    self.definition = definition
    self.coordinate = coordinate
    self.preparations = preparations
    self.call = call
    self.selection = selection
    self.keeping = keeping
    self.replay = replay
    self.again = again
    self.shape = shape
    self.refusal = refusal
    self.makesSecret = makesSecret
    self.mayEndSessions = mayEndSessions
  }
}

/// The payload of a mutation that was refused: its user errors, and nothing else.
package struct RefusalShape: Sendable {
  package enum Value: Sendable {
    case constant([UInt8])
    case userErrors([UserErrorField])
  }

  package let fields: [(key: [UInt8], value: Value)]
  /// What people are told unless the function says it itself: the descriptions of the codes.
  package let messages: [String: String]
}

package struct UserErrorField: Sendable {
  package enum Part: Sendable, Equatable {
    case code, message, path
    case constant([UInt8])
  }

  package let key: [UInt8]
  package let part: Part
}

/// What a call's parameters are made from besides the operation's input.
package enum CallParameter: Sendable, Hashable {
  /// The key a request is known by, the client's or one of the server's.
  case requestKey
  /// SHA-256 of operation and variables.
  case bodyHash
  /// Whether somebody may ask for the answer again.
  case keepsAnswer
  /// Whether the commit does not wait for the disk by itself.
  case flushesLater
  /// A token made for this request, which its answer shows once.
  case secret
  /// Its SHA-256.
  case secretHash
  /// SHA-256 of the token that the request came with; null without one.
  case sessionHash
  /// How the client introduced itself: its `User-Agent`.
  case device
  /// What an input was made into before the call.
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

/// How an input becomes `jsonb`: ids as numbers (0 for what is no id), everything else as the client
/// gave it, what was left out left out.
package indirect enum JSONForm: Sendable, Hashable {
  case value(TypeReference)
  /// An object of these members.
  case members([Member])

  package struct Member: Sendable, Hashable {
    package let name: String
    package let type: TypeReference
  }
}
