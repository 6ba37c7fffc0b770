import Cryptography
import Foundation
import TestSupport
import Testing

/// `session sign`: tokens for tests, as an issuer of `--jwt-keys` signs them.
@Suite(.usesCluster) struct SignedTokenTests {
  private func body(_ port: UInt16, _ token: String?) throws -> String {
    try post(
      #"{"query": "{ notes(first: 9) { nodes { body } } }"}"#, port: port,
      headers: token.map { "Authorization: Bearer \($0)\r\n" } ?? ""
    ).body
  }

  private func sign(
    _ arguments: [String]
  ) throws -> (status: Int32?, output: String, errors: String) {
    try ProgramRun.complete(["session", "sign"] + arguments)
  }

  @Test(arguments: ["secret", "keys"])
  func `a server with the same file accepts the token, and reads its claims`(_ kind: String) throws
  {
    let folder = try TemporaryFolder()
    _ = try folder.write("secret", "a secret of at least thirty-two bytes\n")
    _ = try folder.write("keys", #"{"keys": [\#(try pairWithPrivateHalf())]}"#)
    let issuers = try folder.write(
      "issuers.json",
      #"{"OURS": {"issuer": "https://id.example", "audience": "graph", "\#(kind)": "\#(kind)"}}"#)
    let database = try TestCluster.newDatabase()
    try TestCluster.session(database).execute(
      """
      CREATE TABLE note (id int PRIMARY KEY, owner text NOT NULL, body text NOT NULL);
      INSERT INTO note VALUES (1, 'ada', 'of Ada'), (2, 'ben', 'of Ben');
      """)
    let server = try DraftedServer(database, serving: ["--jwt-keys", issuers]) { path in
      for name in try FileManager.default.contentsOfDirectory(atPath: path)
      where name.hasSuffix(".graphql") {
        let file = path + "/" + name
        try String(contentsOfFile: file, encoding: .utf8)
          .replacing(
            #"@table(name: "note""#,
            with: #"@table(name: "note", where: "this.owner = :claim.app.name""#
          ).write(toFile: file, atomically: true, encoding: .utf8)
      }
    }
    let run = try sign([
      "--jwt-keys", issuers, "--claim", "sub=7", "--claim", #"app={"name": "ada"}"#,
    ])
    #expect(run.status == 0, "\(run.errors)")
    let token = run.output.trimmingCharacters(in: .newlines)
    #expect(token.split(separator: ".").count == 3)
    #expect(try body(server.port, token).contains(#"[{"body":"of Ada"}]"#))
    #expect(try body(server.port, nil).contains(#""nodes":[]"#))
    let ended = try sign([
      "--jwt-keys", issuers, "--claim", "sub=7", "--claim", "exp=1000000000",
    ]).output.trimmingCharacters(in: .newlines)
    #expect(try body(server.port, ended).contains("UNAUTHENTICATED"))
  }

  private func pairWithPrivateHalf() throws -> String {
    let key = try #require(SigningKey())
    return try #require(key.json(withPrivateHalf: true))
  }

  @Test func `who cannot sign, or leaves out the subject, is told what is missing`() throws {
    let folder = try TemporaryFolder()
    let pair = try #require(SigningKey())
    _ = try folder.write("public", #"{"keys": [\#(pair.json(withPrivateHalf: false) ?? "")]}"#)
    _ = try folder.write("secret", "a secret of at least thirty-two bytes")
    let verifying = try folder.write(
      "verifying.json", #"{"OURS": {"issuer": "i", "audience": "a", "keys": "public"}}"#)
    let two = try folder.write(
      "two.json",
      """
      {"ONE": {"issuer": "i", "audience": "a", "secret": "secret"},
       "TWO": {"issuer": "j", "audience": "a", "secret": "secret"}}
      """)
    let claim = ["--claim", "sub=ada"]
    for (arguments, words) in [
      (claim, "--jwt-keys FILE"), (["--jwt-keys", two], "--claim sub=NAME"),
      (["--jwt-keys", verifying] + claim, "who only verifies tokens cannot sign them"),
      (["--jwt-keys", two] + claim, "name the issuer to sign as: ONE, TWO"),
      (["--jwt-keys", two, "--claim", "=x"] + claim, "such as sub=ada"),
    ] {
      let run = try sign(arguments)
      #expect(run.status == 2 && run.errors.contains(words), "\(run.errors)")
    }
    #expect(try sign(["TWO", "--jwt-keys", two] + claim).status == 0)
  }
}
