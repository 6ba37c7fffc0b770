import Accounts
import Foundation
import Glibc
import HTTPTestSupport
import JSON
import TestSupport
import Testing
import TokenSupport

@testable import Server

/// Bearer tokens that other issuers sign (`--jwt-keys`), in addition to the server's sessions.
@Suite(.usesCluster) struct JWTAuthenticatorTests {
  /// A server that takes the tokens of an issuer whose keys stand in a file.
  private final class Issuer {
    let folder: TemporaryFolder
    let graph: GraphServer
    let signer: TokenSigner

    init(_ signer: TokenSigner = TokenSigner(name: "first")) throws {
      self.signer = signer
      folder = try TemporaryFolder()
      _ = try folder.write("keys.json", signer.keySet)
      let file = try folder.write(
        "issuers.json",
        #"{"GOOGLE": {"issuer": "https://id.example", "audience": "graph", "keys": "keys.json"}}"#)
      let issuers = try IdentityProviders(file: file)
      graph = try GraphServer(
        database: TestCluster.newDatabase(migrated: true), settings: { $0.tokenIssuers = issuers })
    }

    deinit { graph.stop() }

    func link(_ person: Person, as subject: String) throws {
      _ = try graph.data().run(
        "INSERT INTO identity (provider, external_id, user_id) "
          + "VALUES ('GOOGLE', '\(subject)', \(person.key))")
    }

    /// Returns the response to a token with these claims: `status username`.
    func answer(_ token: String) throws -> String {
      let response = try graph.send("{ viewer { user { username } } }", token: token)
      let name = try JSONParser.parse(response.body)["data"]?["viewer"]?["user"]?["username"]
      return "\(response.status) \(name?.string ?? "-")"
    }
  }

  private static let now = Int64(Date().timeIntervalSince1970)

  private static func claims(
    _ subject: String, issuer: String = "https://id.example", audience: String = #""graph""#,
    ends: Int64 = now + 3600, more: String = ""
  ) -> String {
    #"{"iss": "\#(issuer)", "aud": \#(audience), "sub": "\#(subject)", "exp": \#(ends)\#(more)}"#
  }

  @Test(arguments: [TokenSigner.Kind.p256, .rsa(bits: 2048)])
  func `a token that an issuer signed is its subject's`(kind: TokenSigner.Kind) throws {
    let issuer = try Issuer(TokenSigner(kind, name: "first"))
    let anna = try issuer.graph.data().person("anna")
    try issuer.link(anna, as: "subject-1")
    let name = anna.username
    let token = issuer.signer.sign(Self.claims("subject-1"))
    #expect(try issuer.answer(token) == "200 \(name)")
    // Known now, too; and to every loop.
    for _ in 0..<4 { #expect(try issuer.answer(token) == "200 \(name)") }
    let several = issuer.signer.sign(Self.claims("subject-1", audience: #"["other", "graph"]"#))
    #expect(try issuer.answer(several) == "200 \(name)")
    // A longer one than a session's.
    let long = issuer.signer.sign(
      Self.claims("subject-1", more: #", "groups": "\#(String(repeating: "g", count: 2_000))""#))
    #expect(long.utf8.count > 2_000)
    #expect(try issuer.answer(long) == "200 \(name)")
    // Sessions of our own are taken beside it.
    #expect(
      try issuer.graph.data("{ viewer { user { username } } }", as: anna)
        .at("viewer.user.username") == .string(name))
    // It writes, too.
    let made = try issuer.graph.execute(
      "mutation { createTextPost(input: {body: \"signed\"}) { textPost { author { username } } } }",
      token: token)
    #expect(made.at("data.createTextPost.textPost.author.username") == .string(name))
  }

  @Test func `one that is not for us, over, of nobody or of others is refused`() throws {
    let issuer = try Issuer()
    let anna = try issuer.graph.data().person("anna")
    try issuer.link(anna, as: "subject-1")
    let signer = issuer.signer
    let good = signer.sign(Self.claims("subject-1"))
    #expect(try issuer.answer(good) == "200 \(anna.username)")
    let parts = good.split(separator: ".").map(String.init)
    let none = Data(#"{"alg":"none"}"#.utf8).base64EncodedString().filter { $0 != "=" }
    for (what, token) in [
      ("another audience", signer.sign(Self.claims("subject-1", audience: #""other""#))),
      ("another issuer", signer.sign(Self.claims("subject-1", issuer: "https://evil.example"))),
      ("over", signer.sign(Self.claims("subject-1", ends: Self.now - 3600))),
      ("not yet", signer.sign(Self.claims("subject-1", more: #", "nbf": \#(Self.now + 3600)"#))),
      (
        "without an end",
        signer.sign(
          #"{"iss": "https://id.example", "aud": "graph", "sub": "subject-1"}"#)
      ),
      ("nobody's", signer.sign(Self.claims("subject-2"))),
      ("another key", TokenSigner(name: "first").sign(Self.claims("subject-1"))),
      ("no signature", "\(none).\(parts[1])."),
      ("another's signature", "\(parts[0]).\(parts[1]).\(String(parts[2].reversed()))"),
      ("a shared secret", TokenSigner(.secret, name: "first").sign(Self.claims("subject-1"))),
      ("padded", good + "="), ("padded twice", good + "=="),
      ("a padded claim", "\(parts[0]).\(parts[1])=.\(parts[2])"),
      ("too long", "eyJ" + String(repeating: "a", count: 9_000) + ".b.c"),
      ("no token", "eyJ.."),
    ] {
      #expect(try issuer.answer(token) == "401 -", "\(what)")
    }
    // What is too long is told as such, as what issuers put into tokens is theirs.
    for long in ["eyJ" + String(repeating: "a", count: 9_000), String(repeating: "a", count: 513)] {
      let answer = try issuer.graph.send("{ viewer { user { id } } }", token: long)
      #expect(
        String(decoding: answer.body, as: UTF8.self).contains("The bearer token is too long"))
    }
    // Where no issuer is configured, none is taken.
    #expect(
      try GraphServer.shared.send("{ viewer { user { id } } }", token: good).status == 401)
  }

  @Test func `keys that change are followed`() throws {
    let issuer = try Issuer()
    let anna = try issuer.graph.data().person("anna")
    try issuer.link(anna, as: "subject-1")
    #expect(
      try issuer.answer(issuer.signer.sign(Self.claims("subject-1"))) == "200 \(anna.username)")
    let second = TokenSigner(name: "second")
    let token = second.sign(Self.claims("subject-1"))
    #expect(try issuer.answer(token) == "401 -")
    _ = try issuer.folder.write("keys.json", second.keySet)
    let isTaken = try eventually { try issuer.answer(token) == "200 \(anna.username)" }
    #expect(isTaken)
    // The key that has gone signs nothing any more; a token that was not seen yet shows it.
    let late = issuer.signer.sign(Self.claims("subject-1", more: #", "jti": "late""#))
    #expect(try issuer.answer(late) == "401 -")
  }

  @Test func `an identity that is unlinked ends its tokens, in every loop`() throws {
    let issuer = try Issuer()
    let anna = try issuer.graph.data().person("anna")
    try issuer.link(anna, as: "subject-1")
    let token = issuer.signer.sign(Self.claims("subject-1"))
    for _ in 0..<6 { #expect(try issuer.answer(token) == "200 \(anna.username)") }
    // By another server, which does not tell this one.
    _ = try issuer.graph.data().run("DELETE FROM identity")
    let hasEnded = try eventually {
      try (0..<6).allSatisfy { _ in try issuer.answer(token) == "401 -" }
    }
    #expect(hasEnded)
  }

  /// The reason for which a socket's token ends.
  enum End: CaseIterable { case time, key, suspension, unlinking }

  @Test(arguments: End.allCases)
  func `a socket and a stream end with their token, within a second of it`(_ end: End) throws {
    let issuer = try Issuer()
    let data = try issuer.graph.data()
    let anna = try data.person("anna")
    try issuer.link(anna, as: "subject-1")
    // With the minute that clocks may differ by, two seconds from now.
    let ends = end == .time ? Int64(Date().timeIntervalSince1970) - 58 : Self.now + 3600
    let token = issuer.signer.sign(Self.claims("subject-1", ends: ends))
    let socket = try GraphQLSocket(
      port: issuer.graph.port, payload: #"{"authorization":"Bearer \#(token)"}"#)
    socket.subscribe("1", "subscription { notificationAdded { id } }")
    let body = #"{"query": "subscription { notificationAdded { id } }"}"#
    let stream = try RawClient(port: issuer.graph.port)
    stream.send(
      "POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        + "Accept: text/event-stream\r\nAuthorization: Bearer \(token)\r\n"
        + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
    #expect(stream.answer(isHead: true).status == 200)
    var began = ContinuousClock.now
    switch end {
    case .time: began = began + .seconds(Double(ends + 60) - Date().timeIntervalSince1970)
    case .key: _ = try issuer.folder.write("keys.json", TokenSigner(name: "second").keySet)
    case .suspension:
      _ = try data.run("UPDATE app_user SET suspended_until = 'infinity' WHERE id = $1", [anna])
    case .unlinking: _ = try data.run("DELETE FROM identity")
    }
    #expect(socket.client.closeCode() == 4403)
    // A busy machine is given more than the second.
    #expect(began.duration(to: .now) < .seconds(3))
    var text = ""
    while let line = stream.line(), !line.hasPrefix("event: complete") { text += line }
    #expect(text.contains("UNAUTHENTICATED"))
    #expect(began.duration(to: .now) < .seconds(4))
  }

  @Test func `it is no recent sign-in: what wants one wants the password`() throws {
    let issuer = try Issuer()
    let anna = try issuer.graph.data().person("anna")
    try issuer.link(anna, as: "subject-1")
    let answer = try issuer.graph.execute(
      "mutation { deleteAccount { userErrors { code field } } }",
      token: issuer.signer.sign(Self.claims("subject-1")))
    #expect(
      answer.at("data.deleteAccount.userErrors.0.code") == .string("REQUIRED"), "\(answer)")
  }
}
