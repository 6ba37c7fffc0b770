import Cryptography
import Dispatch
import EventLoops
import Foundation
import GraphQLExecution
import GraphQLResponse
import JSON
import Synchronization

/// Passwords and credentials on their way to a mutation's function: hashed, compared and read, away
/// from the loops. One for the process; each loop has a `LoopAccountInputs` of it.
package final class AccountInputs: Sendable {
  package struct Settings: Sendable {
    package var strength = PasswordHash.Strength.usual
    package var queue = AccountInputs.queueLimits
    package var rules = PasswordRules()
    package var providers = IdentityProviders()
    /// What accounts' tokens at providers are sealed with; nil to keep none.
    package var box: SecretBox?

    package init() {}
  }

  private static let queueLimits: WorkQueue.Limits = {
    var limits = WorkQueue.Limits()
    limits.refusalDelay = .seconds(1)
    limits.niceness = 5
    return limits
  }()

  let passwords: PasswordHash
  let rules: PasswordRules
  let providers: IdentityProviders
  let box: SecretBox?
  let queue: WorkQueue
  let throttle = Mutex(GuessThrottle())

  package init(_ settings: Settings) {
    passwords = PasswordHash(strength: settings.strength)
    rules = settings.rules
    providers = settings.providers
    box = settings.box
    queue = WorkQueue(label: "passwords", limits: settings.queue)
  }

  /// On the queue's thread.
  func perform(_ task: PreparationTask) -> PreparedInput {
    switch task {
    case .newPassword(let password): .password(password.map(hash), renewed: nil)
    case .knownPassword(nil, _, _): .password(nil, renewed: nil)
    case .knownPassword(.some(let password), let stored, _): known(password, stored)
    case .identityToken(let token, let provider):
      .claims(token.flatMap { claims($0, provider ?? "") })
    case .seal(let text): .sealed(text.flatMap { box?.seal(Array($0.utf8)) })
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

  private func known(_ password: String, _ stored: String?) -> PreparedInput {
    guard passwords.verify(password, against: stored), let stored else {
      return .password("", renewed: nil)
    }
    let isDue = passwords.needsRehash(stored)
    return .password(stored, renewed: isDue ? passwords.hash(password) : nil)
  }

  private func claims(_ token: String, _ provider: String) -> String? {
    guard let issuer = providers.issuer(of: provider) else { return #"{"unknown":true}"# }
    guard
      let token = IdentityToken(
        token, from: issuer, now: Int64(Date().timeIntervalSince1970))
    else { return nil }
    var json = JSONWriter(capacity: 256)
    json.append("{\"subject\":")
    json.write(token.subject)
    json.append(",\"isEmailVerified\":")
    json.write(token.isEmailVerified)
    for (name, value) in [
      ("email", token.email), ("preferredUsername", token.preferredUsername), ("name", token.name),
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

/// `AccountInputs` for the mutations of one loop.
package final class LoopAccountInputs: InputPreparer {
  private let inputs: AccountInputs
  private let loop: EventLoop

  package init(_ inputs: AccountInputs, loop: EventLoop) {
    self.inputs = inputs
    self.loop = loop
  }

  /// Carries what belongs to the loop through the queue and back.
  private struct OnLoop<Value>: @unchecked Sendable {
    // @unchecked: only touched on the loop.
    let value: Value
  }

  package func prepare(
    _ tasks: [PreparationTask], client: ClientIdentity,
    completion: @escaping (Result<[PreparedInput], PreparationRefusal>) -> Void
  ) {
    let accounts = tasks.compactMap { task -> String? in
      if case .knownPassword(.some, _, let account) = task { account } else { nil }
    }
    for account in accounts {
      let verdict = inputs.throttle.withLock {
        $0.verdict(name: account, address: client.address, now: .now)
      }
      switch verdict {
      case .mayTry: continue
      case .nameWaits(let wait), .addressWaits(let wait):
        return loop.afterThisBatch {
          completion(
            .failure(
              PreparationRefusal(
                GraphQLError("Too many wrong passwords. Try again later.", code: .rateLimited),
                retryAfter: wait)))
        }
      }
    }
    let onLoop = OnLoop(value: completion)
    let inputs = inputs
    inputs.queue.run {
      tasks.map { inputs.perform($0) }
    } completion: { [client, loop] prepared in
      loop.execute {
        guard let prepared else {
          return onLoop.value(
            .failure(
              PreparationRefusal(
                GraphQLError(
                  "The server is busy with other passwords. Try again shortly.",
                  code: .serviceOverloaded), retryAfter: .seconds(2))))
        }
        inputs.note(tasks, prepared, client)
        onLoop.value(.success(prepared))
      }
    }
  }
}

extension AccountInputs {
  /// Remembers which guesses were wrong.
  fileprivate func note(
    _ tasks: [PreparationTask], _ prepared: [PreparedInput], _ client: ClientIdentity
  ) {
    for (task, prepared) in zip(tasks, prepared) {
      guard case .knownPassword(.some, _, let account) = task,
        case .password(let matched, _) = prepared
      else { continue }
      throttle.withLock {
        if matched?.isEmpty ?? true {
          $0.failed(name: account, address: client.address, now: .now)
        } else {
          $0.succeeded(name: account)
        }
      }
    }
  }
}
