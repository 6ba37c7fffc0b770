import GraphQLResponse
import Postgres
import Testing

@testable import GraphQLExecution

/// The order of a mutation's fields, and the viewer of each, without a database.
@Suite struct MutationProgressTests {
  private typealias Field = MutationProgress.Field

  private func done(_ json: String, endsSession: Bool = false) -> FieldOutcome {
    var outcome = FieldOutcome.value(Array(json.utf8))
    outcome.mayHaveEndedSession = endsSession
    return outcome
  }

  private func texts(_ progress: MutationProgress) -> [String] {
    progress.outcomes.map { String(decoding: $0.json, as: UTF8.self) }
  }

  @Test func `fields are called one after the other, and known ones are not called`() {
    let known = Field.known(done("1"))
    var progress = MutationProgress([known, .call, known, known, .call, known], viewer: 257)
    #expect(progress.start() == .call(1))
    #expect(texts(progress) == ["1"])
    #expect(progress.returned(done("2")) == .call(4))
    #expect(progress.returned(done("3")) == .finish)
    #expect(texts(progress) == ["1", "2", "1", "1", "3", "1"])
  }

  @Test func `a mutation of known fields finishes at once`() {
    var progress = MutationProgress([.known(done("1")), .known(done("2"))], viewer: 0)
    #expect(progress.start() == .finish)
    #expect(texts(progress) == ["1", "2"])
  }

  @Test func `after a field that may have ended the session the viewer is looked up again`() {
    var progress = MutationProgress([.call, .call, .call], viewer: 257)
    #expect(progress.start() == .call(0))
    #expect(progress.returned(done("1", endsSession: true)) == .findViewer)
    #expect(progress.viewerFound(.success(0)) == .call(1))
    #expect(progress.viewer == 0)
    // Nobody has a session to end.
    #expect(progress.returned(done("2", endsSession: true)) == .call(2))
    #expect(progress.returned(done("3")) == .finish)
  }

  @Test func `the last field needs no viewer after it`() {
    var progress = MutationProgress([.call], viewer: 257)
    #expect(progress.start() == .call(0))
    #expect(progress.returned(done("1", endsSession: true)) == .finish)
  }

  @Test func `without a viewer no further field is called, and each says why`() {
    var progress = MutationProgress([.call, .call, .known(done("5")), .call], viewer: 257)
    _ = progress.start()
    _ = progress.returned(done("1", endsSession: true))
    let lost = PostgresError(.unavailable, message: "The server is gone.")
    #expect(progress.viewerFound(.failure(lost)) == .finish)
    #expect(texts(progress) == ["1", "null", "5", "null"])
    #expect(progress.outcomes.map(\.isUnserved) == [false, true, false, true])
    #expect(progress.refusal == nil)
  }

  @Test func `when no field could be executed the mutation is refused with all reasons`() {
    var progress = MutationProgress([.call, .call], viewer: 257)
    _ = progress.start()
    let error = GraphQLError("Too much is under way.", code: .serviceOverloaded)
    #expect(progress.returned(.unserved(error)) == .call(1))
    #expect(progress.returned(.unserved(error, retryAfter: .seconds(2))) == .finish)
    guard case .refused(let errors, let retryAfter)? = progress.refusal else {
      Issue.record("it was not refused")
      return
    }
    #expect(errors.count == 2 && retryAfter == nil)
  }

  @Test func `nothing follows when the client has disconnected`() {
    var calling = MutationProgress([.call, .call], viewer: 257)
    _ = calling.start()
    calling.cancel()
    #expect(calling.returned(done("1")) == .nothing)

    var finding = MutationProgress([.call, .call], viewer: 257)
    _ = finding.start()
    _ = finding.returned(done("1", endsSession: true))
    finding.cancel()
    #expect(finding.viewerFound(.success(0)) == .nothing)

    // What nobody asked for changes nothing.
    var other = MutationProgress([.call], viewer: 257)
    #expect(other.viewerFound(.success(0)) == .nothing)
    #expect(other.viewer == 257 && other.start() == .call(0))
  }
}
