import CSodium

/// Passwords as they are stored: Argon2id, in the PHC string format, by libsodium (R18).
///
/// Hashing and verifying take the time and memory that the strength asks for, about a tenth of a
/// second and 64 MiB by default: never call them on a loop, but through a `WorkQueue`.
package struct PasswordHash: Sendable {
  /// What one hash costs.
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
  /// Of a password that nobody has: what is verified where there is no account, at the same cost.
  private let nobodys: String

  /// Takes the time of one hash.
  package init(strength: Strength = .usual) {
    precondition(sodium_init() >= 0, "libsodium cannot be used")
    self.strength = strength
    nobodys = Self.hash(RandomBytes.make(32), strength) ?? ""
  }

  /// Nil when there is not enough memory.
  package func hash(_ password: String) -> String? { Self.hash(Array(password.utf8), strength) }

  /// Whether the password is the one behind a stored hash. Without a hash, or with one that is none,
  /// it costs the same and is false.
  package func verify(_ password: String, against stored: String?) -> Bool {
    let isKnown = stored.map { $0.utf8.count < Self.textBytes && !$0.utf8.contains(0) } ?? false
    let hash = isKnown ? stored ?? nobodys : nobodys
    let bytes = password.utf8.map(CChar.init(bitPattern:))
    let matches = unsafe crypto_pwhash_str_verify(hash, bytes, UInt64(bytes.count)) == 0
    return matches && isKnown
  }

  /// Whether a stored hash was made with another strength and should be made anew at the next
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
