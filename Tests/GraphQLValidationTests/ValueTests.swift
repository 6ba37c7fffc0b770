import GraphQLValidation
import Testing

struct ValueTests {
  private func refusals(of literal: String, for argument: String) throws -> [String] {
    try findings("{ echo(\(argument): \(literal)) }", rules: [.valuesOfCorrectType]).map {
      String($0.split(separator: ": ", maxSplits: 1)[1])
    }
  }

  @Test(arguments: [
    ("int", "1"), ("int", "-2147483648"), ("int", "null"), ("float", "1"), ("float", "1e3"),
    ("string", "\"a\""), ("string", "\"\"\"a\"\"\""), ("boolean", "true"), ("id", "\"x\""),
    ("id", "12345678901234567890"), ("kind", "FURRY"), ("anything", "{a: [1, X, null, \"s\"]}"),
    ("must", "2"),
  ])
  func `a literal of the type is taken`(argument: String, literal: String) throws {
    #expect(try refusals(of: literal, for: argument) == [])
  }

  @Test(arguments: [
    ("int", "1.0", "Int cannot represent non-integer value: 1.0"),
    ("int", "\"1\"", "Int cannot represent non-integer value: \"1\""),
    ("int", "2147483648", "Int cannot represent non 32-bit signed integer value: 2147483648"),
    ("int", "[1]", "Int cannot represent non-integer value: [1]"),
    ("float", "\"1\"", "Float cannot represent non numeric value: \"1\""),
    ("float", "1e400", "Float cannot represent non numeric value: 1e400"),
    ("string", "1", "String cannot represent a non string value: 1"),
    ("string", "{a: 1, b: X}", "String cannot represent a non string value: {a: 1, b: X}"),
    ("boolean", "1", "Boolean cannot represent a non boolean value: 1"),
    ("id", "1.5", "ID cannot represent a non-string and non-integer value: 1.5"),
    (
      "kind", "\"FURRY\"",
      "Enum \"Kind\" cannot represent non-enum value: \"FURRY\". Did you mean the enum value \"FURRY\"?"
    ),
    (
      "kind", "FURY",
      "Value \"FURY\" does not exist in \"Kind\" enum. Did you mean the enum value \"FURRY\"?"
    ),
    ("must", "null", "Expected value of type \"Int!\", found null."),
  ])
  func `another literal is refused`(argument: String, literal: String, message: String) throws {
    #expect(try refusals(of: literal, for: argument) == [message])
  }

  @Test func `lists take single items, and lists only where lists are`() throws {
    try expectValid("{ find(kinds: FURRY, matrix: [1, [2, null], null]) { name } }")
    try expectErrors(
      "{ find(kinds: [[FURRY], 1], matrix: [[[1]]]) { name } }",
      [
        "1:16 ValuesOfCorrectType: Enum \"Kind\" cannot represent non-enum value: [FURRY]. Did you mean the enum value \"FURRY\"?",
        "1:25 ValuesOfCorrectType: Enum \"Kind\" cannot represent non-enum value: 1.",
        "1:39 ValuesOfCorrectType: Int cannot represent non-integer value: [1]",
      ])
  }

  @Test func `input objects have known, unique and required fields`() throws {
    try expectErrors(
      "{ find(filter: {knd: FURRY, tags: [null], inner: 5, inner: {required: true}, minimum: null}) { name } }",
      [
        "1:16 ValuesOfCorrectType: Field \"Filter.required\" of required type \"Boolean!\" was not provided.",
        "1:17 ValuesOfCorrectType: Field \"knd\" is not defined by type \"Filter\". Did you mean \"kind\"?",
        "1:36 ValuesOfCorrectType: Expected value of type \"String!\", found null.",
        "1:50 ValuesOfCorrectType: Expected value of type \"Filter\", found 5.",
        "1:43 1:53 UniqueInputFieldNames: There can be only one input field named \"inner\".",
        "1:87 ValuesOfCorrectType: Expected value of type \"Int!\", found null.",
      ])
  }

  @Test func `a OneOf object has exactly one field and it is not null`() throws {
    try expectValid("{ find(choice: {byName: \"x\"}, choices: {byNumber: 1}) { name } }")
    try expectErrors(
      "{ find(choice: {}, choices: [{byName: \"x\", byNumber: 1}, {byName: null}]) { name } }",
      [
        "1:16 ValuesOfCorrectType: OneOf Input Object \"Choice\" must specify exactly one key.",
        "1:30 ValuesOfCorrectType: OneOf Input Object \"Choice\" must specify exactly one key.",
        "1:58 ValuesOfCorrectType: Field \"Choice.byName\" must be non-null.",
      ])
  }
}
