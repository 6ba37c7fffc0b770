import Foundation
import GraphQLResponse
import TestSupport
import Testing

@testable import CommandLine

/// The parsing of the executable's arguments, without starting anything.
@Suite(.usesCluster) struct CommandLineTests {
  @Test func `help names every command`() throws {
    let run = try ProgramRun.complete(["--help"])
    #expect(run.status == 0)
    for name in ["serve", "migrate", "seed", "schema", "explain", "check", "version"] {
      #expect(run.output.contains("  \(name) "))
    }
    #expect(try ProgramRun.complete([]).status == 2)
  }

  @Test(arguments: Program.commands.map(\.specification.name))
  func `every command has help`(command: String) throws {
    let run = try ProgramRun.complete([command, "--help"])
    #expect(run.status == 0)
    #expect(run.output.hasPrefix("Usage: sociograph \(command)"))
    #expect(run.output.split(separator: "\n").allSatisfy { $0.count <= 100 })
    let words = run.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    let options = try #require(
      Program.commands.first { $0.specification.name == command }?.specification.options)
    for option in options {
      #expect(!option.summary.isEmpty)
      #expect(
        words.contains(
          "\(option.summary) (default: \(option.shownDefault)) [\(option.environment)]"),
        "\(option.name)")
    }
  }

  @Test func `help prints manual pages as script/install installs them`() throws {
    let page = try ProgramRun.complete(["help", "--format", "man", "serve"])
    let serve = try #require(Program.commands.first { $0.specification.name == "serve" })
    #expect(page.status == 0 && page.output == ManualPage(serve.specification).text)
    let program = try ProgramRun.complete(["help", "--format", "man"])
    #expect(program.status == 0 && program.output.hasPrefix(".TH SOCIOGRAPH 1 "))
    let unknown = try ProgramRun.complete(["help", "--format", "man", "serv"])
    #expect(unknown.status == 2 && unknown.errors.contains("did you mean serve?"))
  }

  @Test func `one environment variable means one option`() {
    for command in Program.commands {
      let names = command.specification.options.map(\.environment)
      #expect(Set(names).count == names.count, "\(names)")
    }
  }

  @Test func `the former name of an option is accepted with a warning`() throws {
    let command = ServeCommand.specification
    var names: [String] = []
    for option in command.options {
      guard let former = option.formerName, let variable = option.formerEnvironment else {
        continue
      }
      names.append(former)
      let told = try command.parse(["--\(former)", "17"], environment: [:])
      #expect(told.text(option.name) == "17" && told.origin(option.name) == "--\(former)")
      #expect(
        told.warnings == [
          "--\(former) is now --\(option.name); the next version refuses the former name"
        ])
      let found = try command.parse([], environment: [variable: "18"])
      #expect(found.text(option.name) == "18" && found.origin(option.name) == variable)
      #expect(found.warnings.first?.contains("\(variable) is now \(option.environment);") == true)
      let both = try command.parse([], environment: [variable: "18", option.environment: "19"])
      #expect(both.text(option.name) == "19" && both.warnings.isEmpty)
    }
    #expect(
      names == ["maximum-sockets", "maximum-sockets-per-address", "maximum-held-bytes"])
    let run = try ProgramRun.complete(
      ["serve", "--maximum-sockets", "0"], environment: ["SOCIOGRAPH_MAXIMUM_HELD_BYTES": "1000"])
    #expect(run.status == 2)
    #expect(run.errors.contains("warning: SOCIOGRAPH_MAXIMUM_HELD_BYTES is now "), "\(run.errors)")
    #expect(run.errors.contains("--maximum-sockets must be"), "\(run.errors)")
  }

  @Test(arguments: ["serve", "migrate", "check"])
  func `a variable that belongs to no option names the nearest one`(command: String) throws {
    let folder = try TemporaryFolder()
    let data = folder.path + "/data"
    let run = try ProgramRun.complete(
      [command], environment: ["SOCIOGRAPH_LOPS": "2", "SOCIOGRAPH_DATA": data])
    #expect(run.status == 2)
    #expect(
      run.errors == "sociograph: no option has the environment variable SOCIOGRAPH_LOPS; "
        + "did you mean SOCIOGRAPH_LOOPS?\n")
    #expect(!FileManager.default.fileExists(atPath: data))
    let far = try ProgramRun.complete([command], environment: ["SOCIOGRAPH_ZZZZZZZZ": "2"])
    #expect(far.status == 2 && far.errors.contains("SOCIOGRAPH_ZZZZZZZZ"), "\(far.errors)")
    // Of another command it is fine: a container's variables are for all of them.
    let other = try ProgramRun.complete(
      ["check", "--rules"], environment: ["SOCIOGRAPH_LOOPS": "2"])
    #expect(other.status == 0)
  }

  @Test(arguments: [
    (["serve", "--lops", "2"], "--loops"), (["chekc"], "check"),
    (["seed", "--scael", "2"], "--scale"),
  ])
  func `a slip of the hand is told what was meant`(arguments: [String], meant: String) throws {
    let run = try ProgramRun.complete(arguments)
    #expect(run.status == 2 && run.errors.lowercased().contains("did you mean \(meant)?"))
  }

  @Test(arguments: [
    ["--statement-timeout", "11s"], ["--queue-timeout", "20s"], ["--operation-timeout", "4s"],
    ["--operation-timeout", "10s", "--statement-timeout", "10001ms"],
  ])
  func `timeouts that contradict each other are refused, both named`(arguments: [String]) throws {
    let data = "/tmp/sociograph-never-made"
    let run = try ProgramRun.complete(["serve", "--data", data] + arguments)
    #expect(run.status == 2)
    #expect(run.errors.contains("--operation-timeout ("), "\(run.errors)")
    #expect(
      run.errors.contains("--statement-timeout (") || run.errors.contains("--queue-timeout ("))
    #expect(!FileManager.default.fileExists(atPath: data))
  }

  @Test func `plans cannot be shown through a pooler`() throws {
    let url = "postgresql://localhost/none"
    let run = try ProgramRun.complete([
      "serve", "--explain-in-page", "--pooler", "transaction", "--database", url,
      "--direct-database", url,
    ])
    #expect(run.status == 2)
    #expect(run.errors.contains("--explain-in-page cannot be used with --pooler"), "\(run.errors)")
  }

  @Test func `check reads its schema in parts, and stops at what it cannot read`() throws {
    let folder = try TemporaryFolder()
    let query = try folder.write("query.graphql", "type Query { user: User }")
    let user = try folder.write("user.graphql", "type User { name: String }")
    let document = try folder.write("document.graphql", "{ user { nme } }")
    let run = try ProgramRun.complete(["check", "--schema", query, "--schema=\(user)", document])
    #expect(run.status == 1)
    #expect(run.output.hasPrefix("\(document):1:10: Cannot query field \"nme\""), "\(run.output)")
    let one = try ProgramRun.complete(
      ["check", "--rule", "NoUnusedVariablesRule", "--schema", query, "--schema", user, document])
    #expect(one.status == 0, "\(one.output)")
    let missing = try ProgramRun.complete(["check", folder.path + "/nothing"])
    #expect(missing.status == 2 && missing.errors.contains("cannot be read: No such file"))
    let unknown = try ProgramRun.complete(["check", "--rule", "Nonsense", document])
    #expect(unknown.status == 2 && unknown.errors.contains("\"Nonsense\""))
    #expect(try ProgramRun.complete(["check"]).status == 2)
  }

  @Test func `version prints the version`() throws {
    let run = try ProgramRun.complete(["version"])
    #expect(run.status == 0)
    #expect(run.output == "sociograph 0.1.0\n")
  }

  @Test(arguments: [
    (["dance"], "dance"), (["serve", "--colour", "red"], "--colour"),
    (["serve", "here"], "here"), (["serve", "--listen"], "--listen"),
    (["explain"], "FILE"), (["session"], "USER"), (["session", "delete", "anna"], "create"),
    (["seed", "--scale", "0"], "--scale"),
    (["seed", "--scale", "many"], "--scale"), (["seed", "--random-seed", "x"], "--random-seed"),
    (["migrate", "--database", "postgresql://%zz"], "--database"),
    (["migrate", "--database", ""], "--database"), (["schema", "--check=perhaps"], "--check"),
  ])
  func `a call that cannot be understood is named in one line`(arguments: [String], name: String)
    throws
  {
    let run = try ProgramRun.complete(arguments)
    #expect(run.status == 2)
    #expect(run.errors.contains(name), "\(run.errors)")
    #expect(run.errors.hasPrefix("sociograph: ") && run.errors.filter(\.isNewline).count == 1)
  }

  @Test(arguments: [
    ("listen", "8080"), ("listen", "127.0.0.1:99999"), ("loops", "0"), ("pool-size", "-1"),
    ("log-format", "xml"), ("http-profile", "strict"), ("introspection", "maybe"),
    ("suggestions", "perhaps"), ("persisted-queries", "2"), ("allow-origin", "*"),
    ("allow-origin", "https://a.example/,null"), ("trusted-level", "allow-list"),
    ("trusted-documents", "/does/not/exist"), ("maximum-body-bytes", "0"),
    ("maximum-tokens", "1e9"), ("maximum-depth", "0"), ("maximum-aliases", "-1"),
    ("maximum-batch", "1000"), ("trusted-proxies", "10.0.0.0/33"),
    ("maximum-connections", "9999999999999999999999"),
    ("maximum-connections", "999999"), ("statement-timeout", "5"), ("statement-timeout", "0s"),
    ("operation-timeout", "99999999999s"), ("idle-timeout", "soon"),
    ("shutdown-delay", "1min"), ("tls-certificate", "/does/not/exist"), ("tls-key", "x"),
    ("graphiql", "/does/not/exist"), ("public-url", "example.org"),
    ("public-url", "ftp://a.example"),
    ("public-url", "https://a.example/?b"), ("user", "nobody of this name"), ("user", "root"),
    ("log-file", "/does/not/exist/log"), ("schema", "/does/not/exist"),
    ("sql", "/does/not/exist"), ("photos", "/etc/passwd"), ("namespace", ","),
    ("postgres-programs", "/does/not/exist"), ("writer-database", "foo"),
    ("identity-providers", "/does/not/exist"), ("jwt-keys", "/does/not/exist"),
    ("sealing-key", "/does/not/exist"), ("common-passwords", "/does/not/exist"),
    // Without the option that they are about.
    ("outbox-workers", "3"), ("outbox-timeout", "5s"), ("replica-lag", "2s"),
    ("trace-sample", "0.5"),
  ])
  func `a wrong setting stops the start and names itself, also where the port is taken`(
    name: String, value: String
  ) throws {
    // It must not get as far as this folder, or this port.
    let data = "/tmp/sociograph-never-made"
    let port = try TakenPort()
    let serve = ["serve", "--data", data] + (name == "listen" ? [] : ["--listen", port.address])
    let told = try ProgramRun.complete(serve + ["--\(name)", value])
    #expect(told.status == 1 || told.status == 2)
    #expect(
      told.errors.contains("--\(name)") || told.errors.contains("\"\(value)\""), "\(told.errors)")
    #expect(told.errors.filter(\.isNewline).count == 1)
    let variable = "SOCIOGRAPH_" + name.uppercased().replacing("-", with: "_")
    let found = try ProgramRun.complete(serve, environment: [variable: value])
    #expect(found.status == told.status)
    #expect(
      found.errors.contains(variable) || found.errors.contains("--\(name)")
        || found.errors.contains("\"\(value)\""), "\(found.errors)")
    #expect(!FileManager.default.fileExists(atPath: data))
  }

  @Test(arguments: [
    (["--answer-cache", "1000000"], "--answer-cache"),
    (["--answer-cache", "1000000", "--live", "decoding"], "--answer-cache"),
    (["--common-passwords", "/etc/hostname"], "--common-passwords"),
    (["--photo-moderation", "true"], "--photo-moderation"),
    (["--maximum-photo-pixels", "1000"], "--maximum-photo-pixels"),
  ])
  func `an option that the schema or another option leaves nothing to do is refused`(
    arguments: [String], name: String
  ) throws {
    let folder = try TemporaryFolder()
    _ = try folder.write(
      "cat.graphql",
      "type Query { cats: [Cat!]! @list } type Cat @table(name: \"cat\") { id: ID! }")
    let run = try ProgramRun.complete(
      ["serve", "--schema", folder.path, "--database", "host=/does/not/exist"] + arguments)
    #expect(run.status == 1 || run.status == 2)
    #expect(run.errors.contains(name), "\(run.errors)")
    #expect(run.errors.filter(\.isNewline).count == 1, "\(run.errors)")
  }

  @Test func `a port that is taken is told before anything is made`() throws {
    let port = try TakenPort()
    let data = "/tmp/sociograph-never-made"
    let run = try ProgramRun.complete(["serve", "--data", data, "--listen", port.address])
    #expect(run.status == 1)
    #expect(
      run.errors == "sociograph: Cannot listen on \(port.address): Address already in use. Another "
        + "program listens there; --listen names a free port.\n")
    #expect(!FileManager.default.fileExists(atPath: data))
  }

  @Test func `what is no database is told in words of our own`() throws {
    for arguments in [["serve"], ["migrate"], ["session", "create", "ada"]] {
      let run = try ProgramRun.complete(arguments + ["--database", "foo"])
      #expect(run.status == 2)
      #expect(
        run.errors
          == "sociograph: --database must be a URL such as postgresql://user@host/name, or "
          + "postgresql:///name for a database of this machine's PostgreSQL.\n")
    }
    let other = try ProgramRun.complete(["serve", "--database", "mysql://root:secret@host/shop"])
    #expect(other.status == 2)
    #expect(
      other.errors
        == "sociograph: --database: only PostgreSQL is served, so the URL must begin with "
        + "postgresql://, not mysql://.\n")
  }

  @Test func `help of a command is the same before and behind its name`() throws {
    let behind = try ProgramRun.complete(["serve", "--help"])
    let before = try ProgramRun.complete(["help", "serve"])
    #expect(before.status == 0 && before.output == behind.output)
    #expect(try ProgramRun.complete(["help"]).output == ProgramRun.complete(["--help"]).output)
    let unknown = try ProgramRun.complete(["help", "srve"])
    #expect(unknown.status == 2 && unknown.errors.contains("did you mean serve?"))
  }

  @Test func `psql is told where its own options go`() throws {
    let run = try ProgramRun.complete(["psql", "-Atc", "SELECT 1"])
    #expect(run.status == 2)
    #expect(run.errors.contains("as in: sociograph psql -- -Atc\n"), "\(run.errors)")
    let slip = try ProgramRun.complete(["psql", "--dta", "folder"])
    #expect(slip.status == 2 && slip.errors.contains("did you mean --data?"), "\(slip.errors)")
  }

  @Test(arguments: [
    ["session", "create", "ada"], ["user", "role", "ada", "+STAFF"], ["maintain"], ["verify"],
    ["psql"], ["schema", "--check"],
  ])
  func `a command that needs a database makes none`(arguments: [String]) throws {
    let data = "/tmp/sociograph-never-made"
    let run = try ProgramRun.complete(arguments + ["--data", data])
    #expect(run.status == 1)
    #expect(
      run.errors
        == "sociograph: There is no database in \(data): \"sociograph serve\" creates one, with "
        + "demo data; --data names another folder, --database a database that you run.\n")
    #expect(!FileManager.default.fileExists(atPath: data))
  }

  @Test func `an option goes before its environment variable`() throws {
    let run = try ProgramRun.complete(
      ["serve", "--loops", "none"], environment: ["SOCIOGRAPH_LOOPS": "2"])
    #expect(run.errors.contains("--loops must be"))
  }

  @Test func `TLS needs both files, and a key that is nobody else's`() throws {
    let folder = try TemporaryFolder()
    let certificate = try folder.write("certificate", "")
    let key = try folder.write("key", "")
    let alone = try ProgramRun.complete(["serve", "--tls-certificate", certificate])
    #expect(alone.status == 2 && alone.errors.contains("--tls-key"))
    let open = try ProgramRun.complete(
      ["serve", "--tls-certificate", certificate, "--tls-key", key])
    #expect(open.status == 2 && open.errors.contains("everybody"))
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: key)
    let empty = try ProgramRun.complete(
      ["serve", "--tls-certificate", certificate, "--tls-key", key])
    #expect(empty.status == 2 && empty.errors.contains("--tls-certificate"))
  }
}
