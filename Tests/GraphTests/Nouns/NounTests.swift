import JSON
import TestSupport
import Testing

/// What is created can be read in its list, changed field by field, done and undone as often as one
/// likes, and deleted once; and the log of changes tells of each step.
@Suite(.usesCluster) struct NounTests {
  @Test(arguments: Noun.all) func `what is created can be changed and taken back`(noun: Noun) throws
  {
    let stage = try NounStage(.shared)
    for act in noun.before { try stage.perform(act) }
    try stage.listen(noun)
    try stage.perform(noun.create)
    try stage.expectTold(noun, "UPSERT", "created")
    #expect(try stage.isListed(noun) != false, "\(noun.name) is in its list")
    for change in noun.changes {
      try stage.perform(change.act)
      try stage.expect(noun, change.selection, change.result, change.act.field)
      try stage.expectTold(noun, "UPSERT", change.act.field)
      // The same again is no change.
      try stage.perform(change.act)
      try stage.expect(noun, change.selection, change.result, change.act.field + " again")
    }
    for pair in noun.pairs {
      for (act, result) in [(pair.act, pair.done), (pair.back, pair.undone)] {
        for remark in ["", " again"] {
          try stage.perform(act)
          try stage.expect(noun, pair.selection, result, act.field + remark)
        }
      }
    }
    guard let delete = noun.delete else { return }
    try stage.perform(delete)
    try stage.expectTold(noun, "DELETE", "deleted")
    #expect(try stage.read(noun, "id") == .null, "\(noun.name) is gone")
    #expect(try stage.isListed(noun) != true, "\(noun.name) is in no list")
    #expect(try stage.refusals(delete) == ["NOT_FOUND"], "\(noun.name) is deleted once")
  }

  @Test func `a change that changes nothing is no edit`() throws {
    let server = try GraphServer.shared
    let data = try server.data()
    let author = try data.person()
    let post = try data.post(.text, by: author, "words", at: "2026-01-01 00:00Z")
    let update = "updateTextPost(textPostId: $id, input: {body: $body, photoIds: []})"
    for (body, isEdit) in [(" words ", false), ("other", true)] {
      let payload = try server.mutate(
        update, "textPost { createdAt updatedAt }",
        ["id: ID!": post.json, "body: String!": .string(body)], as: author)
      #expect(
        (payload.at("textPost.updatedAt") != payload.at("textPost.createdAt")) == isEdit, "\(body)")
    }
  }
}
