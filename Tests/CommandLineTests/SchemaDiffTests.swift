import JSON
import TestSupport
import Testing

/// `sociograph schema diff` as a program.
@Suite(.blocks) struct SchemaDiffTests {
  private func run(_ arguments: String...) throws -> (
    status: Int32?, output: String, errors: String
  ) {
    let run = try ProgramRun.complete(["schema", "diff"] + arguments)
    return (run.status, run.output, run.errors)
  }

  @Test func `the status says whether a change is breaking`() throws {
    let folder = try TemporaryFolder()
    let old = try folder.write("old.graphql", "type Query { a: Int  b: Int }")
    let new = try folder.write("new.graphql", "type Query { a: Int  c: Int }")
    let same = try run(old, old)
    #expect(same.status == 0 && same.output == "", "\(same)")
    let broken = try run(old, new)
    #expect(broken.status == 1)
    #expect(
      broken.output
        == "breaking Query.b Query.b was removed.\nsafe Query.c Query.c was added.\n")
    let added = try run(new, try folder.write("c.graphql", "type Query { a: Int c: Int d: Int }"))
    #expect(added.status == 0 && added.output == "safe Query.d Query.d was added.\n")
  }

  @Test func `usage and documents mark what nobody uses`() throws {
    let folder = try TemporaryFolder()
    let old = try folder.write("old.graphql", "type Query { a: Int  b: Int }")
    let new = try folder.write("new.graphql", "type Query { a: Int }")
    let usage = try folder.write(
      "usage.json",
      #"{"coordinates": [{"coordinate": "Query.a", "executions": 5}, {"coordinate": "Query.b", "executions": 0}]}"#
    )
    let manifest = try folder.write("manifest.json", #"{"one": "query One { b }", "two": "{ z }"}"#)
    let unused = try run(old, new, "--usage", usage, "--unused-is-safe")
    #expect(unused.status == 0 && unused.output.hasSuffix("was removed. (unused)\n"), "\(unused)")
    let used = try run(
      old, new, "--usage", usage, "--documents", manifest, "--unused-is-safe", "--json")
    #expect(used.status == 1)
    #expect(used.errors.contains("1 documents are not valid"), "\(used.errors)")
    let json = try JSONParser.parse(Array(used.output.utf8))
    #expect(json["format"] == .string("sociograph-schema-diff/1"))
    guard case .array(let changes)? = json["changes"] else { throw NotJSON() }
    #expect(changes.first?["witness"] == .string("query One { b }"))
  }

  private struct NotJSON: Error {}

  @Test func `a folder of storage directives is compared as clients see it`() throws {
    let published = try ProgramRun.complete(["schema"])
    let folder = try TemporaryFolder()
    let file = try folder.write("published.graphql", published.output)
    let same = try run(file, "Schema")
    #expect(same.status == 0 && same.output == "", "\(same)")
  }

  @Test func `what cannot be read is status 2`() throws {
    let folder = try TemporaryFolder()
    let good = try folder.write("good.graphql", "type Query { a: Int }")
    let bad = try folder.write("bad.graphql", "type Query { a: Nothing }")
    let list = try folder.write("list.json", "[1]")
    for arguments in [
      [good], [good, bad], [folder.path + "/none", good], [good, folder.path],
      [good, good, "--unused-is-safe"], [good, good, "--usage", list],
      [good, good, "--documents", list],
    ] {
      let run = try ProgramRun.complete(["schema", "diff"] + arguments)
      #expect(run.status == 2 && run.output == "", "\(arguments): \(run.errors)")
    }
    #expect(try run(good, bad).errors.contains("bad.graphql:1:17: Unknown type \"Nothing\"."))
  }
}
