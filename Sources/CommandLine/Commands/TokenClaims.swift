import Cryptography
import Foundation
import JSON
import Server

/// The claims of a signed token, as the command line writes them: `--claim NAME=VALUE`.
enum TokenClaims {
  static func option(_ summary: String) -> CommandSpecification.Option {
    CommandSpecification.Option("claim", "NAME=VALUE", isRepeatable: true, summary)
  }

  /// The claims that are text by their definition (RFC 7519, 4.1).
  private static let texts: Set<String> = ["iss", "sub", "aud", "jti"]

  /// Returns the claims; nil without any.
  static func read(_ options: CommandOptions) throws(UsageError) -> JSONValue? {
    var members: [JSONValue.Member] = []
    for text in options.texts("claim") {
      guard let mark = text.firstIndex(of: "="), mark > text.startIndex else {
        throw UsageError(
          "\(options.origin("claim")) must be a name and a value, such as sub=ada, not \"\(text)\"."
        )
      }
      let name = String(text[..<mark])
      let written = String(text[text.index(after: mark)...])
      let value =
        (texts.contains(name) ? nil : try? JSONParser.parse(Array(written.utf8)))
        ?? .string(written)
      members.removeAll { $0.name == name }
      members.append(JSONValue.Member(name: name, value: value))
    }
    return members.isEmpty ? nil : .object(members)
  }
}

/// An issuer of the file of `--jwt-keys` whose key signs: a shared secret, or a private key in the set
/// that verifies.
struct TokenSigner {
  private enum Key {
    case secret(MessageAuthenticator)
    case pair(SigningKey)
  }

  let name: String
  private let issuer: String
  private let audience: String
  private let key: Key

  /// Reads the issuers that can sign.
  ///
  /// - Throws: a `UsageError` that names the file.
  static func read(_ file: String) throws -> [TokenSigner] {
    let value: JSONValue
    do {
      value = try JSONParser.parse(Console.contents(of: file))
    } catch {
      throw UsageError("--jwt-keys: \(file): \(error)")
    }
    guard case .object(let members) = value else {
      throw UsageError("--jwt-keys: \(file) is not a JSON object of issuers.")
    }
    let folder = URL(fileURLWithPath: file).deletingLastPathComponent()
    return members.compactMap { member -> TokenSigner? in
      let entry = member.value
      guard let issuer = first(entry["issuer"]), let audience = first(entry["audience"]) else {
        return nil
      }
      func contents(_ name: String) -> [UInt8]? {
        guard case .string(let path)? = entry[name] else { return nil }
        return try? Console.contents(
          of: path.hasPrefix("/") ? path : folder.appendingPathComponent(path).path)
      }
      if let set = contents("keys"), let pair = privateKey(in: set) {
        return TokenSigner(
          name: member.name, issuer: issuer, audience: audience, key: .pair(pair))
      }
      guard entry["keys"] == nil, var secret = contents("secret") else { return nil }
      while secret.last == UInt8(ascii: "\n") || secret.last == UInt8(ascii: "\r") {
        secret.removeLast()
      }
      guard secret.count >= 32 else { return nil }
      return TokenSigner(
        name: member.name, issuer: issuer, audience: audience,
        key: .secret(MessageAuthenticator(key: secret)))
    }
  }

  /// A text, or the first one of a list.
  private static func first(_ value: JSONValue?) -> String? {
    switch value {
    case .string(let text)?: text
    case .array(let items)?: first(items.first)
    default: nil
    }
  }

  private static func privateKey(in set: [UInt8]) -> SigningKey? {
    guard let value = try? JSONParser.parse(set) else { return nil }
    let keys: [JSONValue] = if case .array(let keys)? = value["keys"] { keys } else { [value] }
    return keys.lazy.compactMap { key in
      guard key["d"] != nil else { return nil }
      var json = JSONWriter()
      json.write(key)
      return SigningKey(json: String(decoding: json.finish(), as: UTF8.self))
    }.first
  }

  /// Returns a token with these claims, and with those that they leave out of issuer, audience, and
  /// the times of issue and end.
  func token(_ claims: JSONValue, lasting life: Duration) throws(CommandFailure) -> String {
    var members: [JSONValue.Member] = if case .object(let members) = claims { members } else { [] }
    let now = Int64(Date().timeIntervalSince1970)
    for (name, value) in [
      ("iss", JSONValue.string(issuer)), ("aud", .string(audience)), ("iat", .number("\(now)")),
      ("exp", .number("\(now + life.components.seconds)")),
    ] where claims[name] == nil {
      members.append(JSONValue.Member(name: name, value: value))
    }
    var json = JSONWriter()
    json.write(JSONValue.object(members))
    let payload = json.finish()
    switch key {
    case .pair(let pair):
      guard let token = pair.sign(claims: String(decoding: payload, as: UTF8.self)) else {
        throw CommandFailure("the key of \(name) cannot sign.")
      }
      return token
    case .secret(let secret):
      let text =
        Base64URL.encode(Array(#"{"alg":"HS256","typ":"JWT"}"#.utf8)) + "."
        + Base64URL.encode(payload)
      return text + "." + Base64URL.encode(secret.code(of: Array(text.utf8)))
    }
  }
}
