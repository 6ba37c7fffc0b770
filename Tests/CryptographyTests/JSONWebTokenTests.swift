import Testing
import TokenSupport

@testable import Cryptography

@Suite struct JSONWebTokenTests {
  private let claims = #"{"sub":"42"}"#

  private func read(_ token: String, _ keys: TokenSigner...) -> String? {
    let keys = keys.compactMap { VerificationKey(json: $0.publicKey) }
    return (try? JSONWebToken(token, signedWithOneOf: keys)).map {
      String(decoding: $0.claims, as: UTF8.self)
    }
  }

  /// Key and token were made by another library, jwcrypto.
  @Test func `a token of another library's making is read`() throws {
    let key = try #require(
      VerificationKey(
        json: #"""
          {"crv":"P-256","kid":"e1","kty":"EC","x":"GNkA1IdmLMJ9NAkxJZmuqy4bL7wGcpKpkTYPde0YuDA","y":"De4rWPFwvZDsZS5EnXVTNnc3jTCtBlSebicrj_ZxT4g"}
          """#))
    let token = """
      eyJhbGciOiJFUzI1NiIsImtpZCI6ImUxIn0.eyJpc3MiOiJodHRwczovL2lkLmV4YW1wbGUiLCJzdWIiOiI0MiJ9\
      .6dTCg9PTUkTe4YoI9EQg_0Tz4MACukRBr8qNt2hM9k4dl6fKYT9wPrg7N03SlvLBHoOeeDPpr1zjK_om5ZN7LA
      """
    let read = try JSONWebToken(token, signedWithOneOf: [key])
    #expect(
      String(decoding: read.claims, as: UTF8.self)
        == #"{"iss":"https://id.example","sub":"42"}"#)
  }

  @Test func `RS256 and ES256 are read with their own keys`() {
    let (rsa, p256) = (TokenSigner(.rsa(bits: 2_048)), TokenSigner(.p256))
    #expect(read(rsa.sign(claims), p256, rsa) == claims)
    #expect(read(p256.sign(claims), rsa, p256) == claims)
    #expect(read(p256.sign(claims), rsa) == nil)
    #expect(read(p256.sign(claims), TokenSigner(.p256)) == nil)
    #expect(read(p256.sign(claims)) == nil)
  }

  @Test func `RS384, RS512, PS256 and ES384 are read, unless the key is for another`() throws {
    let rsa = TokenSigner(.rsa(bits: 2_048))
    for algorithm in ["RS256", "RS384", "RS512", "PS256"] {
      let token = rsa.sign(claims, algorithm: algorithm)
      #expect(!token.isEmpty)
      #expect(read(token, rsa) == claims)
      for only in ["RS256", "RS384", "RS512", "PS256"] {
        let key = try #require(VerificationKey(json: rsa.publicKey, algorithm: only))
        let isRead = (try? JSONWebToken(token, signedWithOneOf: [key])) != nil
        #expect(isRead == (only == algorithm))
      }
    }
    let p384 = TokenSigner(.p384)
    #expect(read(p384.sign(claims), p384) == claims)
    #expect(read(p384.sign(claims), TokenSigner(.p384), rsa) == nil)
    #expect(VerificationKey(json: rsa.publicKey, algorithm: "HS256") == nil)
  }

  /// The example of RFC 8037, A.4.
  @Test func `EdDSA is read with a key of Ed25519`() throws {
    let point = try #require(Base64URL.decode("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"))
    let key = try #require(VerificationKey(ed25519: point, name: nil))
    let token =
      "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc"
      + ".hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg"
    let read = try JSONWebToken(token, signedWithOneOf: [key])
    #expect(String(decoding: read.claims, as: UTF8.self) == "Example of Ed25519 signing")
    for place in token.utf8.indices {
      var damaged = Array(token.utf8)
      let offset = token.utf8.distance(from: token.utf8.startIndex, to: place)
      damaged[offset] = damaged[offset] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
      let text = String(decoding: damaged, as: UTF8.self)
      #expect((try? JSONWebToken(text, signedWithOneOf: [key])) == nil)
    }
    #expect(VerificationKey(ed25519: Array(point.dropLast()), name: nil) == nil)
  }

  @Test func `weak keys and shared secrets in a set are none`() {
    for signer in [TokenSigner(.rsa(bits: 1_024)), TokenSigner(.secret)] {
      #expect(VerificationKey(json: signer.publicKey) == nil)
      #expect(read(signer.sign(claims), signer) == nil)
    }
  }

  @Test func `a header that names a key is held to it`() {
    let (first, second) = (TokenSigner(name: "first"), TokenSigner(name: "second"))
    #expect(read(first.sign(claims, header: ["kid": "first"]), first, second) == claims)
    #expect(read(first.sign(claims, header: ["kid": "second"]), first, second) == nil)
    #expect(read(first.sign(claims), second, first) == claims)
  }

  @Test func `extensions that must be understood are refused`() {
    let signer = TokenSigner()
    for value in ["exp", #"["exp"]"#, "[]"] {
      #expect(read(signer.sign(claims, header: ["crit": value]), signer) == nil)
    }
    #expect(read(signer.sign(claims, header: ["note": #"["exp"]"#]), signer) == claims)
  }

  @Test func `a token with no signature, or damaged anywhere, is refused`() {
    let signer = TokenSigner()
    let token = Array(signer.sign(claims).utf8)
    let unsigned = "eyJhbGciOiJub25lIn0.eyJzdWIiOiI0MiJ9."
    #expect(read(unsigned, signer) == nil)
    for place in token.indices {
      var damaged = token
      damaged[place] = damaged[place] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
      #expect(read(String(decoding: damaged, as: UTF8.self), signer) == nil)
      #expect(read(String(decoding: token[..<place], as: UTF8.self), signer) == nil)
    }
    #expect(read(String(repeating: "a", count: 20_000), signer) == nil)
    #expect(read("a\u{0}b", signer) == nil)
  }

  @Test(arguments: [TokenSigner.Kind.p256, .rsa(bits: 2_048)])
  func `a token has one text`(kind: TokenSigner.Kind) {
    let signer = TokenSigner(kind)
    let token = signer.sign(claims)
    #expect(read(token, signer) == claims)
    let parts = token.split(separator: ".").map(String.init)
    var others = [token + "=", token + "==", "=" + token, token + ".", token + "\n", " " + token]
    for place in parts.indices {
      for mark in ["=", "==", "===", " ", "\n", "+", "/", "\u{e9}"] {
        var padded = parts
        padded[place] += mark
        others.append(padded.joined(separator: "."))
      }
      // The bits that stand for no byte.
      guard parts[place].utf8.count % 4 != 0, let last = parts[place].last else { continue }
      let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
      guard let value = alphabet.firstIndex(of: last) else { continue }
      var other = parts
      other[place] = parts[place].dropLast() + String(alphabet[value | 1])
      others.append(other.joined(separator: "."))
    }
    for other in others { #expect(read(other, signer) == nil, "\(other)") }
  }

  @Test(arguments: ["", "{}", "[]", "null", #"{"kty":"RSA"}"#, #"{"kty":"EC","crv":"P-256"}"#])
  func `what is no key is none`(json: String) {
    #expect(VerificationKey(json: json) == nil)
  }
}
