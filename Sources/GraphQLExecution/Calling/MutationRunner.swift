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
  package let writers: any TransactionRunner
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

  /// Creates a runner.
  ///
  /// - Parameter makeSecret: returns an unpredictable token, for `@secret`.
  package init(
    writers: any TransactionRunner, groupCommit: GroupCommit, mapping: StorageMapping,
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
  ///   - viewer: the viewer's ID, or 0 for an anonymous client.
  ///   - findClient: returns the client, which functions can read. Wrong passwords are counted by
  ///     it.
  ///   - findViewer: finds the current viewer, or 0. Called between two fields if the first may
  ///     have ended the session.
  ///   - completion: called with the outcome, unless the run is cancelled before. Its durations do
  ///     not include writing.
  /// - Returns: the run, to be cancelled when the client disconnects. Fields that wait are dropped,
  ///   and a running field is finished.
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
