import Cryptography
import Testing
import TokenSupport

@testable import Accounts

@Suite struct IdentityTokenTests {
  private let signer = TokenSigner(.p256, name: "k")
  private let now: Int64 = 1_800_000_000

  private var issuer: TokenIssuer {
    TokenIssuer(
      names: ["https://id.example", "id.example"], audiences: ["us", "our-phone"],
      keys: TokenIssuer.keys(ofSet: Array(signer.keySet.utf8)) ?? [])
  }

  private func read(_ claims: String) -> IdentityToken? {
    try? IdentityToken(signer.sign(claims), from: issuer, now: now)
  }

  private func claims(
    iss: String = #""https://id.example""#, aud: String = #""us""#, exp: String = "1800000060",
    more: String = ""
  ) -> String {
    #"{"iss":\#(iss),"sub":"42","aud":\#(aud),"exp":\#(exp)\#(more)}"#
  }

  @Test func `a good token says who it is`() throws {
    let token = try #require(
      read(
        claims(
          more:
            #","email":"ada@x.org","email_verified":true,"preferred_username":"ada","name":"A. L.""#
        )))
    #expect(token.subject == "42")
    #expect(token.email == "ada@x.org")
    #expect(token.isEmailVerified)
    #expect(token.preferredUsername == "ada")
    #expect(token.name == "A. L.")
    let bare = try #require(read(claims()))
    #expect(bare.email == nil)
    #expect(!bare.isEmailVerified)
  }

  @Test(arguments: ["\\n", "\\r", "\\u0000", "\\u0001", "\\u007f", "\\u0085", "\\u2028", "\\u2029"])
  func `a claim with a control character is none, and a subject with one is nobody's`(
    character: String
  ) throws {
    let text = "\"ada@x.org\(character)Bcc: b@x.org\""
    let token = try #require(
      read(
        claims(
          more:
            ",\"email\":\(text),\"email_verified\":true,\"preferred_username\":\(text),\"name\":\(text)"
        )))
    #expect(token.email == nil)
    #expect(token.preferredUsername == nil)
    #expect(token.name == nil)
    #expect(
      read(claims().replacing("\"sub\":\"42\"", with: "\"sub\":\"42\(character)\"")) == nil)
  }

  @Test func `one of several audiences may be us, the authorized party must be`() {
    #expect(read(claims(aud: #"["them","us"]"#)) != nil)
    #expect(read(claims(aud: #"["them"]"#)) == nil)
    #expect(read(claims(more: #","azp":"us""#)) != nil)
    #expect(read(claims(more: #","azp":"them""#)) == nil)
  }

  @Test func `an issuer may have several names and audiences`() {
    #expect(read(claims(iss: #""id.example""#)) != nil)
    #expect(read(claims(aud: #""our-phone""#)) != nil)
    #expect(read(claims(more: #","azp":"our-phone""#)) != nil)
    #expect(read(claims(iss: #""phone.example""#)) == nil)
  }

  @Test func `the reason for which a token is refused can be told`() throws {
    func fault(_ token: String) -> TokenFault? {
      do throws(TokenFault) {
        _ = try IdentityToken(token, from: issuer, now: now)
        return nil
      } catch {
        return error
      }
    }
    func fault(of claims: String) -> TokenFault? { fault(signer.sign(claims)) }
    #expect(fault(of: claims()) == nil)
    #expect(fault("no token") == .unreadable)
    #expect(fault(TokenSigner(.secret).sign(claims())) == .algorithm)
    #expect(fault(signer.sign(claims(), header: ["kid": "other"])) == .key)
    #expect(fault(TokenSigner(name: "k").sign(claims())) == .signature)
    #expect(fault(of: claims(iss: "1")) == .issuer)
    #expect(fault(of: claims(aud: #""them""#)) == .audience)
    #expect(fault(of: claims(more: #","azp":"them""#)) == .audience)
    #expect(fault(of: claims().replacing("\"42\"", with: "\"\"")) == .subject)
    #expect(fault(of: claims(exp: "1799999940")) == .expired)
    #expect(fault(of: claims(more: #","nbf":1800000061"#)) == .early)
  }

  @Test func `two signatures over the same claims are one use`() throws {
    let (one, two) = (signer.sign(claims()), signer.sign(claims()))
    #expect(one != two)
    #expect(
      try IdentityToken(one, from: issuer, now: now).digest
        == IdentityToken(two, from: issuer, now: now).digest)
    #expect(read(claims())?.digest != read(claims(more: #","jti":"1""#))?.digest)
  }

  @Test func `another issuer's, another audience's, and what is over are refused`() {
    #expect(read(claims(iss: #""https://id.example/""#)) == nil)
    #expect(read(claims(iss: "null")) == nil)
    #expect(read(claims(aud: #""them""#)) == nil)
    #expect(read(claims(aud: "1")) == nil)
    #expect(read(claims(exp: "1799999940")) == nil)
    #expect(read(claims(exp: "1799999941")) != nil)
    for end in [#""1800000060""#, "null", "1e999", "-1e300", "true"] {
      #expect(read(claims(exp: end)) == nil)
    }
    #expect(read(claims(more: #","nbf":1800000061"#)) == nil)
    #expect(read(claims(more: #","nbf":1800000060"#)) != nil)
    #expect(read(claims(more: #","iat":1800000061"#)) == nil)
    #expect(read(claims(more: #","iat":"now""#)) == nil)
  }

  @Test(arguments: [
    "[]", "1", "", "{", #"{"iss":"https://id.example","aud":"us","exp":1800000060}"#,
    #"{"iss":"https://id.example","aud":"us","exp":1800000060,"sub":""}"#,
    #"{"iss":"https://id.example","aud":"us","exp":1800000060,"sub":7}"#,
    #"{"iss":"https://id.example","aud":"us","exp":1800000060,"sub":"a\u0000b"}"#,
  ])
  func `claims that say not who it is are refused`(claims: String) {
    #expect(read(claims) == nil)
  }

  @Test func `the key of another is not the issuer's`() {
    #expect((try? IdentityToken(TokenSigner().sign(claims()), from: issuer, now: now)) == nil)
  }

  @Test func `of a set only keys that sign are kept`() {
    let rsa = TokenSigner(.rsa(bits: 2_048))
    let encrypting = signer.publicKey.dropLast() + #","use":"enc"}"#
    let signing = signer.publicKey.dropLast() + #","use":"sig"}"#
    let set = #"{"keys":[\#(rsa.publicKey),\#(encrypting),\#(signing),{"kty":"OKP"},7]}"#
    let all = ["RS256", "RS384", "RS512", "PS256"]
    #expect(TokenIssuer.keys(ofSet: Array(set.utf8))?.map(\.algorithms) == [all, ["ES256"]])
    // What a set says of a key is all that the key verifies.
    let one = rsa.publicKey.dropLast() + #","alg":"PS256"}"#
    let other = rsa.publicKey.dropLast() + #","alg":"RSA-OAEP"}"#
    let ed25519 =
      #"{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo","kid":"e"}"#
    let several = Array(#"{"keys":[\#(one),\#(other),\#(ed25519)]}"#.utf8)
    #expect(
      TokenIssuer.keys(ofSet: several)?.map(\.algorithms) == [["PS256"], ["EdDSA", "Ed25519"]])
    #expect(TokenIssuer.keys(ofSet: several)?.last?.name == "e")
    for text in ["", "{}", #"{"keys":{}}"#, #"{"keys":[]}"#, #"{"keys":[{"kty":"oct","k":"AA"}]}"#]
    {
      #expect(TokenIssuer.keys(ofSet: Array(text.utf8)) == nil)
    }
  }
}
