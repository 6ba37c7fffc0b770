import Foundation
import TestSupport
import Testing

@testable import Server

/// What the executable makes of its arguments, without starting anything.
@Suite struct CommandLineTests {
  @Test func `help names every command`() throws {
    let run = try ProgramRun.complete(["--help"])
    #expect(run.status == 0)
    for name in ["serve", "migrate", "seed", "schema", "explain", "check", "version"] {
      #expect(run.output.contains("  \(name) "))
    }
    #expect(try ProgramRun.complete([]).status == 2)
  }

  @Test(arguments: ["serve", "migrate", "seed", "schema", "explain"])
  func `every command has help`(command: String) throws {
    let run = try ProgramRun.complete([command, "--help"])
    #expect(run.status == 0)
    #expect(run.output.hasPrefix("Usage: sociograph \(command)"))
    #expect(run.output.contains("DATABASE_URL"))
    #expect(run.output.split(separator: "\n").allSatisfy { $0.count <= 100 })
  }

  @Test func `the README lists every option of serve as it is`() throws {
    let file = TestCluster.packageFolder + "/README.md"
    let readme = try String(contentsOfFile: file, encoding: .utf8)
    // How many loops there are by default is said in words.
    for option in ServeSettings.sections.flatMap(\.options) where option.name != "loops" {
      let placeholder = (option.placeholder ?? "").replacing("|", with: "\\|")
      let row =
        "| `--\(option.name) \(placeholder)` | `\(option.environment)` | \(option.fallback ?? "") | "
        + "\(option.summary) |\n"
      #expect(readme.contains(row), "\(row)")
    }
  }

  @Test func `version prints the version`() throws {
    let run = try ProgramRun.complete(["version"])
    #expect(run.status == 0)
    #expect(run.output == "sociograph 0.1.0\n")
  }

  @Test(arguments: [
    (["dance"], "dance"), (["serve", "--colour", "red"], "--colour"),
    (["serve", "here"], "here"), (["serve", "--listen"], "--listen"),
    (["explain"], "FILE"), (["seed", "--scale", "0"], "--scale"),
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
    ("maximum-sockets", "9999999999999999999999"),
    ("maximum-sockets", "999999"), ("statement-timeout", "5"), ("statement-timeout", "0s"),
    ("operation-timeout", "99999999999s"), ("idle-timeout", "soon"),
    ("shutdown-delay", "1min"), ("tls-certificate", "/does/not/exist"), ("tls-key", "x"),
    ("graphiql", "/does/not/exist"), ("schema", "/does/not/exist"),
  ])
  func `a wrong setting stops the start and names itself`(name: String, value: String) throws {
    // It must not get as far as this folder.
    let data = "/tmp/sociograph-never-made"
    let told = try ProgramRun.complete(["serve", "--data", data, "--\(name)", value])
    #expect(told.status == 1 || told.status == 2)
    #expect(
      told.errors.contains("--\(name)") || told.errors.contains("\"\(value)\""), "\(told.errors)")
    #expect(told.errors.filter(\.isNewline).count == 1)
    let variable = "SOCIOGRAPH_" + name.uppercased().replacing("-", with: "_")
    let found = try ProgramRun.complete(["serve", "--data", data], environment: [variable: value])
    #expect(found.status == told.status)
    #expect(
      found.errors.contains(variable) || found.errors.contains("--\(name)")
        || found.errors.contains("\"\(value)\""), "\(found.errors)")
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
