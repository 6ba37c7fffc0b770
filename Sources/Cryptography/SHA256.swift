// Hashes, message authentication codes, passwords, signed tokens and sealed texts, each through a library made for it.
// This is the one module that calls OpenSSL's libcrypto, libsodium and cjose; `HTTP` calls OpenSSL for TLS.
//
// Values of bytes go in and come out. Only `WorkQueue` waits: it keeps slow computations off the event loops.

import COpenSSL

package enum SHA256 {
  /// Returns the hash of bytes: 32 bytes.
  package static func hash(_ bytes: [UInt8]) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: 32)
    let result = unsafe EVP_Digest(bytes, bytes.count, &digest, nil, EVP_sha256(), nil)
    precondition(result == 1, "OpenSSL has no SHA-256")
    return digest
  }

  /// Returns the hash of bytes as 64 lower-case hexadecimal digits.
  package static func hexadecimal(_ bytes: [UInt8]) -> String {
    Hexadecimal.encode(hash(bytes))
  }
}

/// The hash SHA-1, for protocols that require it, never for security.
package enum SHA1 {
  /// Returns the hash of bytes: 20 bytes.
  package static func hash(_ bytes: [UInt8]) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: 20)
    let result = unsafe EVP_Digest(bytes, bytes.count, &digest, nil, EVP_sha1(), nil)
    precondition(result == 1, "OpenSSL has no SHA-1")
    return digest
  }
}

package enum RandomBytes {
  /// Returns unpredictable bytes of OpenSSL's generator, which reads many of them from the system
  /// at once.
  package static func make(_ count: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let result = unsafe RAND_bytes(&bytes, Int32(count))
    precondition(result == 1, "OpenSSL has no random bytes")
    return bytes
  }
}
