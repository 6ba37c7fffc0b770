import GraphQLValidation
import Testing

struct VariableTests {
  @Test func `variables are named once and of known input types`() throws {
    try expectErrors(
      "query ($a: Int, $a: [Dog!]!, $b: Nope) { echo(int: $a) find(choice: $b) { name } }",
      [
        "1:9 1:18 UniqueVariableNames: There can be only one variable named \"$a\".",
        "1:21 VariablesAreInputTypes: Variable \"$a\" cannot be non-input type \"[Dog!]!\".",
        "1:34 KnownTypeNames: Unknown type \"Nope\".",
        "1:17 1:52 VariablesInAllowedPosition: Variable \"$a\" of type \"[Dog!]!\" used in position expecting type \"Int\".",
      ])
  }

  @Test func `a use inside a fragment counts, in every operation`() throws {
    try expectErrors(
      "query A($x: Int, $z: Int) { ...F }\nquery B { ...F }\nfragment F on Query { echo(int: $x, must: $x) }",
      [
        "1:18 NoUnusedVariables: Variable \"$z\" is never used in operation \"A\".",
        "3:33 2:1 NoUndefinedVariables: Variable \"$x\" is not defined by operation \"B\".",
        "3:43 2:1 NoUndefinedVariables: Variable \"$x\" is not defined by operation \"B\".",
      ])
  }

  @Test func `anonymous operations are not named in messages`() throws {
    try expectErrors(
      "query ($a: Int) { echo(int: $b) }",
      [
        "1:29 1:1 NoUndefinedVariables: Variable \"$b\" is not defined.",
        "1:8 NoUnusedVariables: Variable \"$a\" is never used.",
      ])
  }

  @Test func `a default of the variable or of the place allows null types where non-null is asked`()
    throws
  {
    try expectValid("query ($a: Int) { echo(must: $a) }")
    try expectValid("query ($a: String = \"sit\") { dog { knows(command: $a) } }")
    try expectErrors(
      "query ($a: String = null, $b: [Int]) { dog { knows(command: $a) } find(matrix: [$b, [1]], filter: {required: $b}) { name } }",
      [
        "1:8 1:61 VariablesInAllowedPosition: Variable \"$a\" of type \"String\" used in position expecting type \"String!\".",
        "1:27 1:110 VariablesInAllowedPosition: Variable \"$b\" of type \"[Int]\" used in position expecting type \"Boolean!\".",
      ])
  }

  @Test func `a field of a OneOf object is no place for null`() throws {
    try expectValid("query ($a: String!) { find(choice: {byName: $a}) { name } }")
    try expectValid("query ($a: String = \"x\") { find(choice: {byName: $a}) { name } }")
    try expectErrors(
      "query ($a: String) { find(choices: [{byName: $a}]) { name } }",
      [
        "1:8 1:46 VariablesInAllowedPosition: Variable \"$a\" is of type \"String\" but must be non-nullable to be used for OneOf Input Object \"Choice\"."
      ])
  }

  @Test func `defaults have the type of their variable`() throws {
    try expectErrors(
      "query ($a: Int = \"x\", $b: Int! = null, $c: Filter = {required: 1}) { echo(int: $a, must: $b) find(filter: $c) { name } }",
      [
        "1:18 ValuesOfCorrectType: Int cannot represent non-integer value: \"x\"",
        "1:34 ValuesOfCorrectType: Expected value of type \"Int!\", found null.",
        "1:64 ValuesOfCorrectType: Boolean cannot represent a non boolean value: 1",
      ])
  }
}
