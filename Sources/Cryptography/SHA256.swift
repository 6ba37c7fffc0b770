// What must be kept secret, or shown to be whole or somebody's: hashes, passwords, signed tokens and
// sealed texts, each through a library made for it.
//
// Values of bytes go in and come out; nothing here waits for anybody but `WorkQueue`, which keeps
// slow computations away from the loops.

import COpenSSL

package enum SHA256 {
  /// 32 bytes.
  package static func hash(_ bytes: [UInt8]) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: 32)
    var length: UInt32 = 0
    let result = unsafe EVP_Digest(
      bytes, bytes.count, &digest, &length, EVP_sha256(), nil)
    precondition(result == 1 && length == 32, "OpenSSL has no SHA-256")
    return digest
  }
}

package enum RandomBytes {
  /// Unpredictable bytes of OpenSSL's generator, which asks the system once for many of them.
  package static func make(_ count: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let result = unsafe RAND_bytes(&bytes, Int32(count))
    precondition(result == 1, "OpenSSL has no random bytes")
    return bytes
  }
}

/// The URL-safe alphabet without padding (RFC 4648, 5).
package enum Base64URL {
  private static let alphabet = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

  package static func encode(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    text.reserveCapacity(bytes.count * 4 / 3 + 3)
    var bits = 0
    var value: UInt32 = 0
    for byte in bytes {
      value = (value & 0xFF_FFFF) << 8 | UInt32(byte)
      bits += 8
      while bits >= 6 {
        bits -= 6
        text.append(alphabet[Int(value >> UInt32(bits) & 63)])
      }
    }
    if bits > 0 { text.append(alphabet[Int(value << UInt32(6 - bits) & 63)]) }
    return String(decoding: text, as: UTF8.self)
  }
}
