import Cryptography
import Dispatch
import EventLoops
import Foundation
import GraphQLExecution
import GraphQLResponse
import JSON
import Synchronization

/// Transforms the passwords and credentials of mutations off the event loops: hashes, verifies and
/// reads them. The process has one; each loop has a `LoopAccountInputs` of it.
package final class AccountInputs: Sendable {
  package struct Settings: Sendable {
    package var strength = PasswordHash.Strength.usual
    package var queue = AccountInputs.queueLimits
    package var rules = PasswordRules()
    package var providers = IdentityProviders()
    /// The box that encrypts accounts' provider tokens, or nil to store none.
    package var box: SecretBox?

    package init() {}
  }

  private static let queueLimits: WorkQueue.Limits = {
    var limits = WorkQueue.Limits()
    // Clients take turns, so a long queue makes those wait who filled it.
    limits.maximumWaiting = 64
    limits.maximumWait = .seconds(5)
    limits.refusalDelay = .seconds(1)
    limits.niceness = 5
    return limits
  }()

  let passwords: PasswordHash
  let rules: PasswordRules
  let providers: IdentityProviders
  let box: SecretBox?
  let queue: WorkQueue
  let throttle = Mutex(LoginThrottle())

  package init(_ settings: Settings) {
    passwords = PasswordHash(strength: settings.strength)
    rules = settings.rules
    providers = settings.providers
    box = settings.box
    queue = WorkQueue(label: "passwords", limits: settings.queue)
  }

  /// Performs a task. Call on the queue's thread.
  ///
  /// - Parameter faults: those of the tokens that are not accepted are appended.
  func perform(_ task: TransformTask, _ faults: inout [TokenFault]) -> TransformedInput {
    switch task {
    case .newPassword(let password): .password(password.map(hash), renewed: nil)
    case .knownPassword(nil, _, _): .password(nil, renewed: nil)
    case .knownPassword(.some(let password), let stored, _): known(password, stored)
    case .identityToken(let token, let provider):
      .json(token.flatMap { claims($0, provider ?? "", &faults) })
    case .seal(let text): .sealed(text.flatMap { box?.seal(Array($0.utf8)) })
    // A picture is for `PictureInputs`.
    case .picture: .json(nil)
    }
  }

  private func hash(_ password: String) -> String {
    switch rules.fault(in: password) {
    case .missing: "!"
    case .tooShort: "!TOO_SHORT"
    case .tooLong: "!TOO_LONG"
    case .common: "!COMMON"
    case nil: passwords.hash(password) ?? "!NO_MEMORY"
    }
  }

  private func known(_ password: String, _ stored: String?) -> TransformedInput {
    guard passwords.verify(password, against: stored), let stored else {
      return .password("", renewed: nil)
    }
    let isDue = passwords.needsRehash(stored)
    return .password(stored, renewed: isDue ? passwords.hash(password) : nil)
  }

  private func claims(
    _ token: String, _ provider: String, _ faults: inout [TokenFault]
  ) -> String? {
    guard let issuer = providers.issuer(of: provider) else { return #"{"unknown":true}"# }
    let now = Int64(Date().timeIntervalSince1970)
    let identity: IdentityToken
    do throws(TokenFault) {
      identity = try IdentityToken(token, from: issuer, now: now)
    } catch {
      faults.append(error)
      return nil
    }
    var json = JSONWriter(capacity: 256)
    json.append("{\"subject\":")
    json.write(identity.subject)
    json.append(",\"isEmailVerified\":")
    json.write(identity.isEmailVerified)
    // What a token is known by that was used once, and until when.
    json.append(",\"digest\":")
    json.write(Hexadecimal.encode(identity.digest))
    json.append(",\"endsAt\":")
    json.write(identity.endsAt)
    for (name, value) in [
      ("email", identity.email), ("preferredUsername", identity.preferredUsername),
      ("name", identity.name),
    ] {
      guard let value else { continue }
      json.append(UInt8(ascii: ","))
      json.writeKey(name)
      json.write(value)
    }
    json.append("}")
    return String(decoding: json.finish(), as: UTF8.self)
  }
}

/// The `AccountInputs` for the mutations of one loop.
package final class LoopAccountInputs: InputTransformer {
  private let inputs: AccountInputs
  private let loop: EventLoop
  private let report: (SessionResolver.Event) -> Void

  /// - Parameter report: called for an identity token that is not accepted.
  package init(
    _ inputs: AccountInputs, loop: EventLoop,
    report: @escaping (SessionResolver.Event) -> Void = { _ in }
  ) {
    self.inputs = inputs
    self.loop = loop
    self.report = report
  }

  /// A value of the loop that passes through the queue unchanged.
  private struct OnLoop<Value>: @unchecked Sendable {
    // @unchecked: only touched on the loop.
    let value: Value
  }

  package func transform(
    _ tasks: [TransformTask], client: ClientIdentity,
    completion: @escaping (Result<[TransformedInput], TransformRefusal>) -> Void
  ) {
    let share: WorkShare
    switch inputs.admit(tasks, from: client) {
    case .admitted(let found): share = found
    case .waits(let wait):
      return loop.afterThisBatch {
        completion(
          .failure(
            TransformRefusal(
              GraphQLError("Too many wrong passwords. Try again later.", code: .rateLimited),
              retryAfter: wait)))
      }
    }
    let onLoop = OnLoop(value: (completion, report))
    let inputs = inputs
    inputs.queue.run(for: share) {
      var faults: [TokenFault] = []
      let prepared = tasks.map { inputs.perform($0, &faults) }
      return (prepared, faults)
    } completion: { [client, loop] done in
      loop.execute {
        let (completion, report) = onLoop.value
        let prepared = done?.0
        for fault in done?.1 ?? [] { report(.refused(fault)) }
        inputs.note(tasks, prepared, client)
        guard let prepared else {
          return completion(
            .failure(
              TransformRefusal(
                GraphQLError(
                  "The server is busy with other passwords. Try again shortly.",
                  code: .serviceOverloaded), retryAfter: .seconds(2))))
        }
        completion(.success(prepared))
      }
    }
  }
}

extension AccountInputs {
  fileprivate enum Admission {
    case admitted(WorkShare)
    case waits(Duration)
  }

  /// Counts the guesses among the tasks, unless one of them has to wait.
  fileprivate func admit(_ tasks: [TransformTask], from client: ClientIdentity) -> Admission {
    throttle.withLock { throttle in
      let share = share(of: tasks, from: client, throttle)
      var admitted: [String] = []
      for case .knownPassword(.some, _, let account) in tasks {
        switch throttle.admit(name: account, address: client.ownAddress, now: .now) {
        case .mayTry: admitted.append(account)
        case .nameWaits(let wait), .addressWaits(let wait):
          for account in admitted {
            throttle.abandoned(name: account, address: client.ownAddress)
          }
          return .waits(wait)
        }
      }
      return .admitted(share)
    }
  }

  /// Returns the share of the queue that the tasks count toward.
  ///
  /// An address is a client, and each name a subject of it. If several clients share the address,
  /// an account is a client, unless its last password was wrong. So a client that tries many names
  /// takes one share.
  private func share(
    of tasks: [TransformTask], from client: ClientIdentity, _ throttle: LoginThrottle
  ) -> WorkShare {
    for case .knownPassword(.some, let stored, let account) in tasks {
      if let address = client.ownAddress { return WorkShare(client: address, subject: account) }
      return stored != nil && !throttle.hasFailed(name: account)
        ? WorkShare(client: account) : WorkShare(client: "guesses", subject: account)
    }
    return WorkShare(client: client.ownAddress ?? "others")
  }

  /// Records the wrong guesses. Without results, none was compared.
  fileprivate func note(
    _ tasks: [TransformTask], _ prepared: [TransformedInput]?, _ client: ClientIdentity
  ) {
    for (index, task) in tasks.enumerated() {
      guard case .knownPassword(.some, _, let account) = task else { continue }
      let address = client.ownAddress
      throttle.withLock {
        guard let prepared, prepared.indices.contains(index),
          case .password(let matched, _) = prepared[index]
        else { return $0.abandoned(name: account, address: address) }
        if matched?.isEmpty ?? true {
          $0.failed(name: account, address: address, now: .now)
        } else {
          $0.succeeded(name: account, address: address)
        }
      }
    }
  }
}

extension ClientIdentity {
  /// The address; nil if several clients share it and cannot be distinguished.
  fileprivate var ownAddress: String? { isAddressShared ? nil : address }
}
