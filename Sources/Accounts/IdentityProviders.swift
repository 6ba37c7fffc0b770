import Cryptography
import Foundation
import Synchronization

/// The identity providers that the operator has configured, by their names in the schema: issuer,
/// audience and key set of each, from a JSON file.
///
///     {"GOOGLE": {"issuer": "https://accounts.google.com", "audience": "our-id", "keys": "google.jwks"}}
///
/// `issuer` and `audience` may be lists: of an application with several client IDs, each is an audience.
/// `keys` names a file with a JSON Web Key Set, relative to this one unless it begins with `/`. It
/// is read again after it has changed, which is checked twice a second while tokens arrive or are watched.
/// Instead of `keys`, an issuer of bearer tokens may have `secret`: the name of a file with a secret
/// that signs with HS256.
package final class IdentityProviders: Sendable {
  package struct Fault: Error, CustomStringConvertible {
    package let description: String
  }

  private struct Provider: Sendable {
    let names: [String]
    let audiences: [String]
    let file: String
    let isSecret: Bool
  }

  private struct Keys: Sendable {
    let issuer: TokenIssuer
    let modified: Date?
    let lookedAt: ContinuousClock.Instant
  }

  private let providers: [String: Provider]
  /// The substitute for all providers.
  private let demo: DemoIdentityProvider?
  private let keys = Mutex([String: Keys]())
  private let changes = Atomic<Int>(0)
  private static let patience = Duration.milliseconds(400)

  /// Creates an empty set, or one with a substitute for all providers.
  package init(demo: DemoIdentityProvider? = nil) {
    providers = [:]
    self.demo = demo
  }

  /// Reads a file.
  ///
  /// - Parameter allowsSecrets: whether issuers may sign with a shared secret. An identity provider
  ///   may not, because whoever verifies its tokens could make them.
  /// - Throws: a `Fault` that names the file and the error.
  package init(file path: String, allowsSecrets: Bool = false) throws {
    guard let data = FileManager.default.contents(atPath: path) else {
      throw Fault(description: "\(path) cannot be read.")
    }
    guard
      let object = try? JSONSerialization.jsonObject(with: data) as? [String: [String: Any]]
    else {
      throw Fault(
        description:
          "\(path) is not a JSON object of providers, each with issuer, audience and keys.")
    }
    let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
    var providers: [String: Provider] = [:]
    for (name, entry) in object {
      let secret = allowsSecrets ? entry["secret"] as? String : nil
      guard let issuers = Self.texts(entry["issuer"]),
        let audiences = Self.texts(entry["audience"]),
        let keys = entry["keys"] as? String ?? secret
      else { throw Fault(description: "\(path): \(name) needs issuer, audience and keys.") }
      let file = keys.hasPrefix("/") ? keys : folder.appendingPathComponent(keys).path
      providers[name] = Provider(
        names: issuers, audiences: audiences, file: file, isSecret: entry["keys"] == nil)
    }
    self.providers = providers
    demo = nil
    for (name, provider) in providers {
      guard let loaded = Self.load(provider, at: .now) else {
        throw Fault(
          description:
            "\(provider.file) has no key for \(name): "
            + (provider.isSecret
              ? "a secret of 32 bytes or more."
              : "RSA of 2048 bits or more, P-256, P-384, or Ed25519."))
      }
      self.keys.withLock { $0[name] = loaded }
    }
  }

  /// Returns a text, or a list of at least one.
  private static func texts(_ value: Any?) -> [String]? {
    if let one = value as? String { return [one] }
    guard let several = value as? [String], !several.isEmpty else { return nil }
    return several
  }

  /// The names of the configured providers.
  package var names: [String] { providers.keys.sorted() }

  /// The number of times that keys were read again.
  var state: Int { changes.load(ordering: .acquiring) }

  /// The accepted names of all issuers, in the order of the providers' names.
  package var issuerNames: [String] {
    providers.sorted { $0.key < $1.key }.flatMap(\.value.names)
  }

  /// Returns an issuer; nil for a provider that is not configured. It may read a file, so do not
  /// call it on an event loop.
  func issuer(of name: String) -> TokenIssuer? {
    guard let provider = providers[name] else { return demo?.issuer(of: name) }
    let now = ContinuousClock.now
    let known = keys.withLock { $0[name] }
    if let known, known.lookedAt.duration(to: now) < Self.patience { return known.issuer }
    if let known, Self.modified(provider.file) == known.modified {
      let looked = Keys(issuer: known.issuer, modified: known.modified, lookedAt: now)
      keys.withLock { $0[name] = looked }
      return known.issuer
    }
    // A set that is being written, or is broken, does not take the place of one that was whole.
    guard let loaded = Self.load(provider, at: now) else { return known?.issuer }
    keys.withLock { $0[name] = loaded }
    changes.wrappingAdd(1, ordering: .acquiringAndReleasing)
    return loaded.issuer
  }

  private static func load(_ provider: Provider, at now: ContinuousClock.Instant) -> Keys? {
    let modified = modified(provider.file)
    guard let data = FileManager.default.contents(atPath: provider.file),
      let keys = provider.isSecret ? secret(data) : TokenIssuer.keys(ofSet: Array(data))
    else { return nil }
    return Keys(
      issuer: TokenIssuer(names: provider.names, audiences: provider.audiences, keys: keys),
      modified: modified, lookedAt: now)
  }

  /// Returns the key of a file with a secret, without the line's end.
  private static func secret(_ data: Data) -> [VerificationKey]? {
    var bytes = Array(data)
    while bytes.last == UInt8(ascii: "\n") || bytes.last == UInt8(ascii: "\r") {
      bytes.removeLast()
    }
    return VerificationKey(secret: bytes).map { [$0] }
  }

  private static func modified(_ file: String) -> Date? {
    (try? FileManager.default.attributesOfItem(atPath: file))?[.modificationDate] as? Date
  }
}
