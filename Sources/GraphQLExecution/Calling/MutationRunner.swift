import EventLoops
import GraphQLPlanning
import GraphQLResponse
import GraphQLSchema
import JSON
import Postgres

/// Runs mutations on one loop: their root fields in order, each in a transaction of its own over the
/// loop's connections that may write.
///
/// These belong to the loop as those that read do: no lock and no change of thread, and the queue is
/// in the pool, with its limits. A few for each loop are as good as a few for all, as none of them waits
/// for the disk while others wait for it (`GroupCommit`).
package final class MutationRunner {
  package let writers: PostgresPool
  let groupCommit: GroupCommit
  let schema: Schema
  let scalarTypes: [TypeID: ParameterType]
  let constraintErrors: ConstraintErrors
  let settings: ExecutionSettings
  let makeSecret: () -> String
  let transformer: (any InputTransformer)?
  let sessionsEnded: () -> Void
  var random = SystemRandomNumberGenerator()
  var spareFrames = RecordFrames()

  /// - Parameter makeSecret: a token that nobody can guess, for `@secret`.
  package init(
    writers: PostgresPool, groupCommit: GroupCommit, mapping: StorageMapping,
    constraintErrors: ConstraintErrors, settings: ExecutionSettings,
    transformer: (any InputTransformer)? = nil,
    sessionsEnded: @escaping () -> Void = {},
    makeSecret: @escaping () -> String = { RequestKey.randomToken() }
  ) {
    self.transformer = transformer
    self.sessionsEnded = sessionsEnded
    self.writers = writers
    self.groupCommit = groupCommit
    schema = mapping.schema
    scalarTypes = mapping.scalarTypes
    self.constraintErrors = constraintErrors
    self.settings = settings
    self.makeSecret = makeSecret
  }

  /// Runs the fields of a mutation in order.
  ///
  /// - Parameters:
  ///   - viewer: the signed-in user's id; 0 for an anonymous client.
  ///   - findClient: who sends it, which functions may ask for and by which guesses are counted.
  ///   - findViewer: whom it acts for now, 0 for nobody: asked between two fields of which the first may
  ///     have ended the session.
  ///   - completion: given the outcome, unless the run is cancelled before. Its times do not tell
  ///     writing apart.
  /// - Returns: what ends it when the client leaves: fields that wait are not run, and the one that
  ///   runs is finished.
  package func run(
    _ operation: PreparedOperation, _ fields: [PreparedField], viewer: Int64,
    findClient: @escaping () -> ClientIdentity, findViewer: @escaping MutationRun.FindViewer,
    completion: @escaping (OperationOutcome) -> Void
  ) -> MutationRun {
    let run = MutationRun(
      self, operation, fields, viewer: viewer, findClient: findClient, findViewer: findViewer,
      completion: completion)
    run.start()
    return run
  }
}
