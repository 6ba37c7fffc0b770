import Cryptography
import EventLoops
import Foundation
import JSON
import Postgres
import SQL
import Synchronization

/// Finds the viewer of a request on one event loop: it maps session tokens to users.
///
/// A token is looked up in the database at its first use and again five seconds later. So a revoked
/// session ends within five seconds in every process. Requests that arrive during a lookup wait for
/// its result, unless a session has ended in this process since it began. Used sessions are looked
/// up again before the five seconds end, hundreds in one statement, so that no request waits.
///
/// A token of another issuer (`JWTAuthenticator`) is verified. The graph is asked for its user as
/// often.
///
/// The graph decides who a session belongs to, how long it lasts, and whether its use is recorded
/// (`GraphContract`). A transaction that no request waits for records a use. If the database
/// accepts no writes, sessions are not extended. If the graph lacks `viewer_of_session`, every
/// token is unknown.
package final class SessionResolver {
  /// A signed-in viewer.
  package struct Viewer: Sendable, Equatable {
    /// The ID of the user. Without an account, for a signed token of a graph without
    /// `viewer_of_token`, a number for the token's claims.
    package let id: Int64
    /// The claims of a signed token; nil for a session.
    package var claims: JSONValue?
  }

  package enum Resolution: Sendable {
    case viewer(Viewer)
    /// No such session, or one that has expired.
    case unknown
    case failed(PostgresError)
  }

  /// The outcome of a lookup in the database.
  package enum Event: Sendable {
    case found, unknown, failed
    /// A token of another issuer is not accepted. At most one in a second is reported, after its lookup
    /// as `unknown`.
    case refused(TokenFault)
  }

  private final class Known {
    let viewer: Viewer
    let until: Moment
    /// The time from which it is looked up again together with others.
    let againFrom: Moment
    /// The end of a signed token; nil for a session.
    let endsAt: Moment?
    /// Whether it was used since the lookup.
    var isUsed = false

    init(_ viewer: Viewer, until: Moment, againFrom: Moment, endsAt: Moment?) {
      self.endsAt = endsAt
      self.viewer = viewer
      self.until = until
      self.againFrom = againFrom
    }
  }

  /// A lookup in the database, with the requests that wait for it.
  private final class LookUp {
    let token: SessionToken
    let began = Moment.now
    /// The number of sessions that had ended in this process when it began.
    let ends: Int
    var completions: [(Resolution) -> Void]

    init(_ token: SessionToken, after ends: Int, _ completions: [(Resolution) -> Void] = []) {
      self.token = token
      self.ends = ends
      self.completions = completions
    }
  }

  private static let statement = PostgresStatement(
    "SELECT user_id, is_unnoted::int::bigint FROM \(GraphContract.viewerOfSession)($1::bytea)",
    parameterCount: 1, label: StatementLabel(task: "session"))

  private static let several = PostgresStatement(
    """
    SELECT t.place, s.user_id, s.is_unnoted::int::bigint
    FROM unnest($1::bytea[]) WITH ORDINALITY t (token_hash, place), \(GraphContract.viewerOfSession)(t.token_hash) s
    """, parameterCount: 1, label: StatementLabel(task: "session"))
  private static let maximumTogether = 200

  private static let rest = PostgresStatement(
    "SELECT \(GraphContract.restOfSession)($1::bytea)", parameterCount: 1,
    label: StatementLabel(task: "session"))
  private static let bearer = PostgresStatement(
    "SELECT \(GraphContract.viewerOfToken)($1::text, $2::text)", parameterCount: 2,
    label: StatementLabel(task: "session"))

  private static let begin = PostgresStatement("BEGIN READ WRITE", parameterCount: 0)
  private static let use = PostgresStatement(
    "SELECT \(GraphContract.noteSession)($1::bytea)", parameterCount: 1,
    label: StatementLabel(task: "session"))
  private static let commit = PostgresStatement("COMMIT", parameterCount: 0)

  private let pool: PostgresPool
  private let ended: EndedSessions
  private let signed: (bearers: JWTAuthenticator, loop: EventLoop)?
  private var seenEnds = 0
  /// The state of the issuers' keys that the known signed tokens were verified with.
  private var seenKeys = 0
  private let lifetime: Duration
  private let maximumCount: Int
  private var known: [SessionToken: Known] = [:]
  private var waiting: [SessionToken: LookUp] = [:]
  private var looksAgainFrom = Moment.now
  /// The time from which uses are recorded again after a failure.
  private var notesFrom = Moment.now
  /// The time from which the next refusal is reported.
  private var refusalsFrom = Moment.now
  private let report: (Event) -> Void

  package init(
    pool: PostgresPool, ended: EndedSessions = EndedSessions(),
    signed: (bearers: JWTAuthenticator, loop: EventLoop)? = nil, lifetime: Duration = .seconds(5),
    maximumCount: Int = 10_000, report: @escaping (Event) -> Void = { _ in }
  ) {
    self.pool = pool
    self.ended = ended
    self.signed = signed
    self.report = report
    self.lifetime = lifetime
    self.maximumCount = maximumCount
  }

  /// The user of a token seen in the last seconds.
  package func known(_ token: SessionToken) -> Viewer? {
    forgetEnded()
    return use(token, .now)?.viewer
  }

  /// Has the database asked when the token comes next.
  package func forget(_ token: SessionToken) { known[token] = nil }

  /// Checks whether the keys of an issuer of signed tokens have changed. If so, all tokens are verified
  /// again.
  ///
  /// - Parameter completion: called on the loop, with whether there are other keys.
  package func lookForChangedKeys(_ completion: @escaping (Bool) -> Void) {
    guard let signed else { return completion(false) }
    let onLoop = OnLoop(value: (self, completion))
    signed.bearers.look { [loop = signed.loop] state in
      loop.execute { onLoop.value.0.saw(state, onLoop.value.1) }
    }
  }

  private func saw(_ state: Int, _ completion: (Bool) -> Void) {
    let isChanged = seenKeys != state
    seenKeys = state
    if isChanged { known.removeAll() }
    completion(isChanged)
  }

  /// Finds the time until an unused session of the server expires, or a signed token ends. It is zero
  /// for one that has ended or must be verified again, and nil if it is unknown.
  package func remaining(of token: SessionToken, completion: @escaping (Duration?) -> Void) {
    if token.isSigned {
      guard let end = known[token]?.endsAt else { return completion(.zero) }
      return completion(max(Moment.now.duration(to: end), .zero))
    }
    var parameters = PostgresParameters()
    parameters.append(token.hash)
    pool.execute(Self.rest, parameters) { outcome, _ in
      switch outcome {
      case .success(let result):
        let rest = result.rowCount > 0 ? result.integer(row: 0, column: 0) : nil
        completion(.milliseconds(rest ?? 0))
      case .failure: completion(nil)
      }
    }
  }

  /// Calls `completion` on the loop: at once for a token seen in the last seconds.
  package func resolve(_ token: SessionToken, completion: @escaping (Resolution) -> Void) {
    forgetEnded()
    if let entry = use(token, .now) { return completion(.viewer(entry.viewer)) }
    if let lookUp = waiting[token], lookUp.ends == seenEnds {
      lookUp.completions.append(completion)
      return
    }
    let lookUp = LookUp(token, after: seenEnds, [completion])
    waiting[token] = lookUp
    if let signed, token.isSigned {
      let onLoop = OnLoop(value: (self, lookUp))
      return signed.bearers.check(token) { [loop = signed.loop] verdict in
        loop.execute { onLoop.value.0.ask(onLoop.value.1, verdict) }
      }
    }
    ask(lookUp)
  }

  private func use(_ token: SessionToken, _ now: Moment) -> Known? {
    guard let entry = known[token], entry.until > now else { return nil }
    entry.isUsed = true
    if entry.againFrom <= now, looksAgainFrom <= now { lookAgain(now) }
    return entry
  }

  /// Looks up together what was used and has less than two fifths of its time left, one fifth after
  /// the last such look at the earliest.
  private func lookAgain(_ now: Moment) {
    looksAgainFrom = now + lifetime / 5
    let next = now + lifetime / 5 * 2
    var lookUps: [LookUp] = []
    for (token, entry) in known
    where entry.isUsed && entry.until > now && entry.until < next && !token.isSigned {
      if let lookUp = waiting[token], lookUp.ends == seenEnds { continue }
      let lookUp = LookUp(token, after: seenEnds)
      waiting[token] = lookUp
      lookUps.append(lookUp)
    }
    for start in stride(from: 0, to: lookUps.count, by: Self.maximumTogether) {
      ask(together: Array(lookUps[start..<min(start + Self.maximumTogether, lookUps.count)]))
    }
  }

  private func ask(together lookUps: [LookUp]) {
    let hashes: [[UInt8]] = lookUps.map { $0.token.hash }
    var parameters = PostgresParameters()
    parameters.append(array: hashes)
    pool.execute(Self.several, parameters, for: .server) { outcome, _ in
      switch outcome {
      case .failure(let error) where error.isMissingFunction:
        for lookUp in lookUps { self.answer(lookUp, viewer: nil, isUnnoted: false) }
      case .success(let result):
        var found: [Int64: (viewer: Int64?, isUnnoted: Bool)] = [:]
        for row in 0..<result.rowCount {
          guard let place = result.integer(row: row, column: 0) else { continue }
          found[place] = (
            result.integer(row: row, column: 1), result.integer(row: row, column: 2) == 1
          )
        }
        for (index, lookUp) in lookUps.enumerated() {
          let session = found[Int64(index) + 1]
          self.answer(lookUp, viewer: session?.viewer, isUnnoted: session?.isUnnoted == true)
        }
      case .failure(let error):
        for lookUp in lookUps {
          self.report(.failed)
          self.answer(lookUp, .failed(error))
        }
      }
    }
  }

  private func ask(_ lookUp: LookUp) {
    var parameters = PostgresParameters()
    parameters.append(lookUp.token.hash)
    pool.execute(Self.statement, parameters, for: .server) { outcome, _ in
      switch outcome {
      case .failure(let error) where error.isMissingFunction:
        self.answer(lookUp, viewer: nil, isUnnoted: false)
      case .success(let result):
        let isFound = result.rowCount > 0
        self.answer(
          lookUp, viewer: isFound ? result.integer(row: 0, column: 0) : nil,
          isUnnoted: isFound && result.integer(row: 0, column: 1) == 1)
      case .failure(let error):
        self.report(.failed)
        self.answer(lookUp, .failed(error))
      }
    }
  }

  private func answer(_ lookUp: LookUp, viewer: Int64?, isUnnoted: Bool) {
    let viewer = viewer.map { Viewer(id: $0) }
    remember(lookUp, viewer)
    if viewer != nil, isUnnoted { noteUse(of: lookUp.token) }
    report(viewer == nil ? .unknown : .found)
    answer(lookUp, viewer.map { .viewer($0) } ?? .unknown)
  }

  private func answer(_ lookUp: LookUp, _ resolution: Resolution) {
    if waiting[lookUp.token] === lookUp { waiting[lookUp.token] = nil }
    for completion in lookUp.completions { completion(resolution) }
  }

  /// Carries what belongs to the loop through a queue and back.
  private struct OnLoop<Value>: @unchecked Sendable {
    // @unchecked: only touched on the loop.
    let value: Value
  }

  private func ask(_ lookUp: LookUp, _ verdict: JWTAuthenticator.Verdict) {
    switch verdict {
    case .notLookedAt:
      report(.failed)
      answer(
        lookUp, .failed(PostgresError(.overloaded, message: "Too many tokens are to be checked.")))
    case .unacceptable(let fault):
      remember(lookUp, nil)
      report(.unknown)
      if refusalsFrom <= .now {
        refusalsFrom = .now + .seconds(1)
        report(.refused(fault))
      }
      answer(lookUp, .unknown)
    case .bearer(let bearer):
      var parameters = PostgresParameters()
      parameters.append(inTextFormat: bearer.issuer)
      parameters.append(inTextFormat: bearer.subject)
      pool.execute(Self.bearer, parameters, for: .server) { outcome, _ in
        switch outcome {
        case .success(let result):
          let viewer = result.rowCount > 0 ? result.integer(row: 0, column: 0) : nil
          self.answer(lookUp, bearer, viewer)
        case .failure(let error) where error.isMissingFunction:
          self.answer(lookUp, bearer, bearer.number)
        case .failure(let error):
          self.report(.failed)
          self.answer(lookUp, .failed(error))
        }
      }
    }
  }

  private func answer(_ lookUp: LookUp, _ bearer: JWTAuthenticator.Bearer, _ id: Int64?) {
    let viewer = id.map { Viewer(id: $0, claims: bearer.claims) }
    let left = Double(bearer.endsAt) - Date().timeIntervalSince1970
    remember(lookUp, viewer, endingIn: .seconds(max(0, left)))
    report(viewer == nil ? .unknown : .found)
    answer(lookUp, viewer.map { .viewer($0) } ?? .unknown)
  }

  private func noteUse(of token: SessionToken) {
    guard notesFrom <= .now else { return }
    pool.lease { result in
      guard case .success(let lease) = result else {
        self.notesFrom = .now + .seconds(60)
        return
      }
      lease.execute(Self.begin, PostgresParameters()) { _ in }
      var parameters = PostgresParameters()
      parameters.append(token.hash)
      lease.execute(Self.use, parameters) { outcome in
        switch outcome {
        case .success: break
        case .failure: self.notesFrom = .now + .seconds(60)
        }
      }
      lease.execute(Self.commit, PostgresParameters()) { _ in lease.release() }
    }
  }

  /// Forgets all sessions after one has ended in this process, so that it ends immediately.
  private func forgetEnded() {
    let count = ended.count
    guard count != seenEnds else { return }
    seenEnds = count
    known.removeAll()
  }

  private func remember(
    _ lookUp: LookUp, _ viewer: Viewer?, endingIn rest: Duration? = nil
  ) {
    // The result may predate the end of a session, and a later lookup is newer.
    guard lookUp.ends == ended.count, waiting[lookUp.token] === lookUp else { return }
    // Unknown tokens are not cached, because any client can send any number of them.
    guard let viewer else {
      known[lookUp.token] = nil
      return
    }
    let now = Moment.now
    if known.count >= maximumCount {
      known = known.filter { $0.value.until > now }
      if known.count >= maximumCount { known.removeAll() }
    }
    // Since it was asked for: how long the answer took is part of the five seconds.
    let end = rest.map { now + $0 }
    let until = min(lookUp.began + lifetime, end ?? now + lifetime)
    known[lookUp.token] = Known(
      viewer, until: until, againFrom: until - lifetime / 5, endsAt: end)
  }
}

/// The number of sessions that this process has ended. After a change, all its event loops query
/// the database again.
package final class EndedSessions: Sendable {
  private let number = Atomic<Int>(0)

  package init() {}

  package var count: Int { number.load(ordering: .acquiring) }
  package func note() { number.wrappingAdd(1, ordering: .acquiringAndReleasing) }
}

extension PostgresError {
  /// The graph has no such function (SQLSTATE `undefined_function`).
  fileprivate var isMissingFunction: Bool { sqlState == "42883" }
}
