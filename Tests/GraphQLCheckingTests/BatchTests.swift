import Foundation
import GraphQLChecking
import JSON
import Testing

/// The lines of `sociograph check --batch`.
struct BatchTests {
  private func answer(_ line: String) -> String? {
    var checker = BatchChecker()
    return checker.answer(Array(line.utf8)).map { String(decoding: $0, as: UTF8.self) }
  }

  @Test func `parse prints the document again`() {
    #expect(
      answer(#"{"id": "a", "op": "parse", "source": "{a(b:[1,\"x\"]) # c\n}"}"#)
        == #"{"id":"a","ok":true,"printed":"{\n  a(b: [1, \"x\"])\n}"}"#)
    #expect(
      answer(#"{"id": "a", "op": "parse", "source": "{ a "}"#)
        == #"{"id":"a","ok":false,"errors":[{"message":"Syntax Error: Expected Name, found <EOF>.","locations":[{"line":1,"column":5}]}]}"#
    )
  }

  @Test func `schema prints the schema, or says what is wrong with it`() {
    #expect(
      answer(
        #"{"id": "", "op": "schema", "schema": "type Query { a: Int }\nextend type Query { b: ID }"}"#
      )
        == #"{"id":"","ok":true,"printed":"type Query {\n  a: Int\n  b: ID\n}"}"#)
    #expect(
      answer(#"{"id": "s", "op": "schema", "schema": "type Query { a: Nope }", "rules": null}"#)
        == #"{"id":"s","ok":false,"errors":[{"message":"Unknown type \"Nope\".","locations":[{"line":1,"column":17}],"extensions":{"rule":"KnownTypeNamesRule"}}]}"#
    )
    #expect(
      answer(
        #"{"id": "s", "op": "schema", "schema": "type Query { a: Nope }", "rules": ["UniqueTypeNamesRule"]}"#
      )?.hasPrefix(#"{"id":"s","ok":true"#) == true)
  }

  @Test func `validate answers with findings and their rules`() {
    let request = #""op": "validate", "schema": "type Query { name: Int }", "document": "{ nme }""#
    #expect(
      answer("{\"id\": \"v\", \(request)}")
        == #"{"id":"v","ok":false,"errors":[{"message":"Cannot query field \"nme\" on type \"Query\". Did you mean \"name\"?","locations":[{"line":1,"column":3}],"extensions":{"rule":"FieldsOnCorrectTypeRule"}}]}"#
    )
    #expect(
      answer("{\"id\": \"v\", \(request), \"suggestions\": false}")?.contains("Did you")
        == false)
    #expect(
      answer("{\"id\": \"v\", \(request), \"rules\": [\"ScalarLeafsRule\"]}")
        == #"{"id":"v","ok":true}"#)
    #expect(
      answer(
        #"{"id": "v", "op": "validate", "schema": "type Nothing { a: Int }", "document": "{"}"#)?
        .contains("Query root type must be provided.") == true)
  }

  @Test func `what is not known is unsupported`() {
    for request in [
      #""op": "translate""#,
      #""op": "validate", "schema": "type Query { a: Int }", "document": "{ a }", "rules": ["NoSuchRule"]"#,
    ] {
      #expect(
        answer("{\"id\": \"u\", \(request)}") == #"{"id":"u","ok":false,"unsupported":true}"#)
    }
  }

  @Test(arguments: [
    "nonsense", "[]", "{}", #"{"id": 1, "op": "parse", "source": "{a}"}"#, #"{"id": "a"}"#,
    #"{"id": "a", "op": "parse"}"#, #"{"id": "a", "op": "parse", "source": 5}"#,
    #"{"id": "a", "op": "execute", "schema": "", "document": "", "variables": []}"#,
    #"{"id": "a", "op": "schema", "schema": "", "rules": "all"}"#,
    String(repeating: "[", count: 100_000),
  ])
  func `a line that is no request is answered, and the batch goes on`(line: String) throws {
    var checker = BatchChecker()
    let reply = checker.answer(Array(line.utf8))
    let answer = try #require(reply)
    let value = try JSONParser.parse(answer)
    #expect(value["id"] == .null)
    #expect(value["ok"] == .boolean(false))
    #expect(checker.hasMalformedLine)
    let next = checker.answer(Array(#"{"id":"b","op":"parse","source":"{a}"}"#.utf8))
    #expect(
      next
        == Array(#"{"id":"b","ok":true,"printed":"{\n  a\n}"}"#.utf8))
  }

  @Test func `blank lines are skipped`() {
    #expect(answer("") == nil)
    #expect(answer(" \t\r") == nil)
  }

  @Test(arguments: [
    String(repeating: "{a", count: 50_000), "{a(b:" + String(repeating: "[", count: 50_000),
    "query($a:" + String(repeating: "[", count: 50_000),
    String(repeating: "{a", count: 190) + String(repeating: "}", count: 190),
    "{...F0}" + (0..<3_000).map { "fragment F\($0) on Q{q{...F\($0 + 1)}}" }.joined(),
    "{...F0}" + (0..<3_000).map { "fragment F\($0) on Q{...F\($0 + 1)}" }.joined()
      + "fragment F3000 on Q{...F0}",
    "{__schema{types" + String(repeating: "{fields{type", count: 7) + "{name}"
      + String(repeating: "}}", count: 7) + "}}",
  ])
  func `no document ends the process`(document: String) {
    for op in ["parse", "validate", "execute"] {
      var writer = JSONWriter()
      writer.write(
        .object([
          JSONValue.Member(name: "id", value: .string("x")),
          JSONValue.Member(name: "op", value: .string(op)),
          JSONValue.Member(name: "source", value: .string(document)),
          JSONValue.Member(name: "document", value: .string(document)),
          JSONValue.Member(
            name: "schema", value: .string("schema { query: Q } type Q { a: Q, q: Q, b: Int }")),
        ]))
      var checker = BatchChecker()
      let answer = checker.answer(writer.finish())
      #expect(answer != nil)
      #expect(!checker.hasMalformedLine)
    }
  }

  @Test func `half a surrogate pair is a syntax error at its place`() {
    #expect(
      answer(#"{"id": "h", "op": "parse", "source": "{a(b: \"é\ud83d\")}"}"#)
        == #"{"id":"h","ok":false,"errors":[{"message":"Syntax Error: Invalid character within String: U+D83D.","locations":[{"line":1,"column":9}]}]}"#
    )
    #expect(
      answer(
        #"{"id": "h", "op": "validate", "schema": "type Query {a: Int} \udc00", "document": "{a}"}"#
      )
        == #"{"id":"h","ok":false,"errors":[{"message":"Syntax Error: Invalid character: U+DC00.","locations":[{"line":1,"column":21}]}]}"#
    )
    #expect(
      answer(#"{"id": "h", "op": "parse", "source": "{a(b: \"\ud83d\ude00\")}"}"#)
        == #"{"id":"h","ok":true,"printed":"{\n  a(b: \"😀\")\n}"}"#)
  }

  @Test func `half a surrogate pair elsewhere comes back as it was`() {
    let last = "\u{10FFFF}"
    #expect(
      answer(#"{"id": "\udc00 \#(last) \udbff\udfff \\ud83d", "op": "parse", "source": "{a}"}"#)
        == #"{"id":"\udc00 \#(last) \#(last) \\ud83d","ok":true,"printed":"{\n  a\n}"}"#)
    #expect(
      answer(
        #"{"id": "", "op": "execute", "schema": "type Query {a: String}", "document": "{a}", "root": {"a": "x\ud83D\#(last)"}}"#
      ) == #"{"id":"","ok":true,"result":{"data":{"a":"x\ud83d\#(last)"}}}"#)
    // Without one, characters that would stand for it are themselves.
    let mark = "\u{10FFFF}\u{10F000}"
    #expect(
      answer(#"{"id": "\#(mark)", "op": "parse", "source": "{a(b: \"\#(mark)\")}"}"#)
        == #"{"id":"\#(mark)","ok":true,"printed":"{\n  a(b: \"\#(mark)\")\n}"}"#)
  }

  @Test func `schemas are told apart byte by byte`() {
    var checker = BatchChecker()
    // The same text to a reader, and to the equality of strings; not the same bytes.
    for description in ["\u{E9}", "e\u{301}"] {
      let line = #"{"id": "", "op": "schema", "schema": "\"\#(description)\" type Query {a: Int}"}"#
      let answer = checker.answer(Array(line.utf8)) ?? []
      let text = Array(description.utf8)
      #expect(answer.indices.contains { answer[$0...].starts(with: text) })
    }
  }

  @Test func `on a large stack documents may be as deep as is said`() async {
    let depth = 3_000
    func nested(_ open: String, _ close: String) -> String {
      String(repeating: open, count: depth - 10) + String(repeating: close, count: depth - 10)
    }
    let schema = "type Query {a: Query b(i: I, j: J): Int} input I {i: I} scalar J"
    func request(_ document: String) -> String {
      #"{"id": "", "op": "execute", "schema": "\#(schema)", "document": "\#(document)", "root": \#(nested(#"{"a":"#, "}").replacing(":}", with: ":null}"))}"#
    }
    let selections = nested("{a", "}").replacing("a}", with: "a{__typename}}")
    let lines = [
      #"{"id": "", "op": "parse", "source": "\#(selections)"}"#, request(selections),
      request("{b(i: {i: \(nested("{i:", "}").replacing(":}", with: ":{}}"))})}"),
      request("{b(j: \(nested("[", "]")))}"),
      #"{"id": "", "op": "schema", "schema": "type Query {a: \#(nested("[", "]").replacing("[]", with: "[Int]"))}"}"#,
    ]
    let answers: [String] = await withCheckedContinuation { continuation in
      let thread = Thread {
        var checker = BatchChecker(maximumNesting: depth)
        continuation.resume(
          returning: lines.map {
            String(decoding: checker.answer(Array($0.utf8)) ?? [], as: UTF8.self)
          })
      }
      thread.stackSize = 256 << 20
      thread.start()
    }
    #expect(answers.count == lines.count)
    #expect(answers[0].hasPrefix(#"{"id":"","ok":true"#))
    #expect(answers[1].contains("__typename") == false)
    for answer in answers { #expect(!answer.contains("nested deeper")) }
    for index in [2, 3, 4] { #expect(answers[index].hasPrefix(#"{"id":"","ok":true"#)) }
    let tooDeep = String(repeating: "{a", count: depth + 1)
    #expect(
      answer(#"{"id": "", "op": "parse", "source": "\#(tooDeep)"}"#)?.contains("deeper than 200 ")
        == true)
  }
}
