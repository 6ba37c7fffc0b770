import CSodium

/// Hashes and verifies passwords: Argon2id, in the PHC string format, by libsodium.
///
/// Hashing and verifying take the time and memory that the strength asks for, about a tenth of a
/// second and 64 MiB by default. Never call them on an event loop; use a `WorkQueue`.
package struct PasswordHash: Sendable {
  /// The cost of one hash.
  package struct Strength: Sendable, Equatable {
    package var memoryBytes: Int
    package var passes: Int

    /// libsodium's INTERACTIVE: 64 MiB, two passes.
    package static let usual = Strength(memoryBytes: 64 << 20, passes: 2)
    /// OWASP's minimum: 19 MiB, two passes.
    package static let least = Strength(memoryBytes: 19 << 20, passes: 2)

    package init(memoryBytes: Int, passes: Int) {
      self.memoryBytes = memoryBytes
      self.passes = passes
    }
  }

  private let strength: Strength
  /// The hash of a random password, which is verified at the same cost if there is no account.
  private let nobodys: String

  /// Creates a hasher, which takes the time of one hash.
  package init(strength: Strength = .usual) {
    precondition(sodium_init() >= 0, "libsodium cannot be used")
    self.strength = strength
    nobodys = Self.hash(RandomBytes.make(32), strength) ?? ""
  }

  /// Returns the hash of a password, or nil if there is not enough memory.
  package func hash(_ password: String) -> String? { Self.hash(Array(password.utf8), strength) }

  /// Returns whether the password matches a stored hash. Without a valid hash, it takes the same
  /// time and returns false.
  package func verify(_ password: String, against stored: String?) -> Bool {
    let isKnown = stored.map { $0.utf8.count < Self.textBytes && !$0.utf8.contains(0) } ?? false
    let hash = isKnown ? stored ?? nobodys : nobodys
    let bytes = password.utf8.map(CChar.init(bitPattern:))
    let matches = unsafe crypto_pwhash_str_verify(hash, bytes, UInt64(bytes.count)) == 0
    return matches && isKnown
  }

  /// Returns whether a stored hash has another strength, and should be replaced at the next
  /// sign-in.
  package func needsRehash(_ stored: String) -> Bool {
    guard stored.utf8.count < Self.textBytes else { return true }
    return unsafe crypto_pwhash_str_needs_rehash(
      stored, UInt64(strength.passes), strength.memoryBytes) != 0
  }

  private static let textBytes = Int(crypto_pwhash_STRBYTES)

  private static func hash(_ password: [UInt8], _ strength: Strength) -> String? {
    var text = [CChar](repeating: 0, count: textBytes)
    let isDone = unsafe crypto_pwhash_str_alg(
      &text, password.map(CChar.init(bitPattern:)), UInt64(password.count),
      UInt64(strength.passes), strength.memoryBytes, crypto_pwhash_ALG_ARGON2ID13)
    guard isDone == 0 else { return nil }
    return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}
