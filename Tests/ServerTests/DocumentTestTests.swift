import JSON
import Server
import Testing

/// How `sociograph test` reads expectations and compares responses.
struct DocumentTestTests {
  private func differences(_ expected: String, _ received: String) throws -> [String] {
    try ResponseDifferences(
      expected: JSONParser.parse(Array(expected.utf8)),
      received: JSONParser.parse(Array(received.utf8))
    ).lines
  }

  @Test func `data has all expected members and no others, in any order`() throws {
    let received = #"{"data":{"a":{"b":1,"c":[true,null]},"d":"x"}}"#
    #expect(try differences(#"{"data":{"d":"x","a":{"c":[true,null],"b":1.0}}}"#, received) == [])
    #expect(
      try differences(#"{"data":{"a":{"b":2,"c":[false]},"d":"y","e":{}}}"#, received) == [
        "data.a.b: expected 2, received 1", "data.a.c.0: expected false, received true",
        "data.a.c.1: expected nothing, received null",
        #"data.d: expected "y", received "x""#, "data.e: expected {}, received nothing",
      ])
    #expect(
      try differences(#"{"data":{"a":null}}"#, received) == [
        #"data.a: expected null, received {"b":1,"c":[true,null]}"#,
        #"data.d: expected nothing, received "x""#,
      ])
  }

  @Test func `three periods stand for anything`() throws {
    let received = #"{"data":{"id":"AjEB","text":"made by Ada, today","list":[1,2]}}"#
    #expect(
      try differences(
        #"{"data":{"id":"...","text":"made ... Ada...","list":"..."}}"#, received) == [])
    #expect(
      try differences(
        #"{"data":{"id":"A...C","text":"...Ada","list":["...",3]}}"#, received) == [
          #"data.id: expected "A...C", received "AjEB""#,
          #"data.text: expected "...Ada", received "made by Ada, today""#,
          "data.list.1: expected 3, received 2",
        ])
  }

  @Test func `of errors and extensions only what is expected is compared`() throws {
    let received =
      #"{"errors":[{"message":"No.","extensions":{"code":"X","requestId":"1"}}],"#
      + #""extensions":{"cost":{"points":1}}}"#
    #expect(try differences(#"{"errors":[{"extensions":{"code":"X"}}]}"#, received) == [])
    #expect(
      try differences(#"{"errors":[{"message":"Yes."}],"extensions":{"cost":{}}}"#, received) == [
        #"errors.0.message: expected "Yes.", received "No.""#
      ])
    #expect(try differences(#"{"data":null}"#, received).count == 2)
  }

  @Test(arguments: [
    ("[]", "has no step"), ("{}", "\"response\" must be"), ("[1]", "expected a JSON object"),
    (#"{"response":{},"veiwer":"x"}"#, "no member \"veiwer\""), ("{", "x.json"),
    (#"{"response":{},"variables":[]}"#, "\"variables\" must be"),
    (#"[{"response":{}},{"response":{},"viewer":1}]"#, "step 2: \"viewer\" must be a string"),
  ])
  func `an expectation that cannot be read says why`(text: String, reason: String) {
    let error = #expect(throws: CommandFailure.self) {
      try DocumentTest(name: "x", document: "{ a }", expectation: Array(text.utf8))
    }
    #expect(error?.description.contains(reason) == true, "\(error?.description ?? "")")
  }
}
