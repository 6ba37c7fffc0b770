import GraphQLChecking
import JSON
import Testing

/// The executor, by way of `"op": "execute"`: text in, text out.
struct ExecutionTests {
  private static let schema = """
    type Query {
      i: Int, f: Float, s: String, b: Boolean, id: ID, e: Color, any: Any, must: Int!
      list: [Int], strict: [Int!], both: [[Int!]!]!, me: User, us: [User!], node: Node, either: U
      echo(n: Int! = 1): Int
    }
    enum Color { RED } scalar Any union U = User | Pet
    interface Node { id: ID! } type Pet implements Node { id: ID!, owner: User }
    type User implements Node { id: ID!, name: String!, friend: User, pet: Pet! }
    type Mutation { first: Int, second: Int! }
    """

  private func result(
    _ document: String, _ root: String = "null", variables: String = "null",
    operation: String = "null"
  ) -> String {
    var request = JSONWriter()
    request.append("{\"id\":\"e\",\"op\":\"execute\",\"schema\":")
    request.write(Self.schema)
    request.append(",\"document\":")
    request.write(document)
    request.append(
      Array(
        ",\"root\":\(root),\"variables\":\(variables),\"operationName\":\(operation)}".utf8))
    var checker = BatchChecker()
    let answer = String(decoding: checker.answer(request.finish()) ?? [], as: UTF8.self)
    let isOK = answer.hasPrefix(#"{"id":"e","ok":true,"result":"#)
    #expect(isOK == !answer.contains("\"errors\":"))
    return String(
      answer.dropFirst(
        isOK ? #"{"id":"e","ok":true,"result":"#.count : #"{"id":"e","ok":false,"result":"#.count
      ).dropLast())
  }

  private func error(_ message: String, _ line: Int, _ column: Int, _ path: String) -> String {
    #"{"message":"\#(message)","locations":[{"line":\#(line),"column":\#(column)}],"path":[\#(path)]}"#
  }

  @Test func `fields come in the order of the selections, merged`() {
    #expect(
      result(
        "{ s me { name } ...F i me { id } z: s } fragment F on Query { me { n: name } i __typename }",
        #"{"i": 1, "s": "x", "me": {"id": 5, "name": "Ann"}}"#)
        == #"{"data":{"s":"x","me":{"name":"Ann","n":"Ann","id":"5"},"i":1,"__typename":"Query","z":"x"}}"#
    )
  }

  @Test func `skip and include decide, skip first`() {
    #expect(
      result(
        "query ($t: Boolean!, $f: Boolean!) { a: i @include(if: $f) b: i @skip(if: $f) c: i @skip(if: $t) @include(if: $t) ... @skip(if: $t) { d: i } }",
        #"{"i": 1}"#, variables: #"{"t": true, "f": false}"#) == #"{"data":{"b":1}}"#)
  }

  @Test(arguments: [
    ("i", "2147483648", "Int cannot represent non 32-bit signed integer value: 2147483648"),
    ("i", "1.5", "Int cannot represent non-integer value: 1.5"),
    ("i", #""a""#, #"Int cannot represent non-integer value: \"a\""#),
    ("i", "{}", "Int cannot represent non-integer value: {}"),
    ("f", #""""#, #"Float cannot represent non numeric value: \"\""#),
    ("s", #"{"a": [1]}"#, "String cannot represent value: { a: [1] }"),
    ("b", #""true""#, #"Boolean cannot represent a non boolean value: \"true\""#),
    ("id", "true", "ID cannot represent value: true"),
    ("e", #""BLUE""#, #"Enum \"Color\" cannot represent value: \"BLUE\""#),
    ("list", "5", #"Expected Iterable, but did not find one for field \"Query.list\"."#),
  ])
  func `a value that is no result of its type is an error`(
    field: String, value: String, message: String
  ) {
    #expect(
      result("{ \(field) }", "{\"\(field)\": \(value)}")
        == "{\"data\":{\"\(field)\":null},\"errors\":[\(error(message, 1, 3, "\"\(field)\""))]}")
  }

  @Test(arguments: [
    ("i", "1.0", "1"), ("i", "true", "1"), ("i", #""12""#, "12"), ("f", "1", "1"),
    ("f", #""0.5""#, "0.5"), ("s", "1.50", #""1.5""#), ("s", "false", #""false""#),
    ("b", "0", "false"), ("id", "7", #""7""#), ("e", #""RED""#, #""RED""#),
    ("any", #"{"x":[1.50,null]}"#, #"{"x":[1.50,null]}"#), ("list", "[1,null]", "[1,null]"),
  ])
  func `a value that can be a result of its type is one`(
    field: String, value: String, expected: String
  ) {
    #expect(
      result("{ \(field) }", "{\"\(field)\": \(value)}")
        == "{\"data\":{\"\(field)\":\(expected)}}")
  }

  @Test func `null goes up to where it may be`() {
    #expect(
      result(
        "{ i me { id name } strict us { name friend { name } } }",
        #"{"i": 1, "me": {"id": 1}, "strict": [1, null], "us": [{"name": "a", "friend": {}}, {"name": "b"}]}"#
      )
        == #"{"data":{"i":1,"me":null,"strict":null,"us":[{"name":"a","friend":null},{"name":"b","friend":null}]},"errors":["#
        + [
          error("Cannot return null for non-nullable field User.name.", 1, 13, #""me","name""#),
          error("Cannot return null for non-nullable field Query.strict.", 1, 20, #""strict",1"#),
          error(
            "Cannot return null for non-nullable field User.name.", 1, 46,
            #""us",0,"friend","name""#
          ),
        ].joined(separator: ",") + "]}")
    #expect(
      result("{ i both }", #"{"i": 1, "both": [[1], [2, null]]}"#)
        == #"{"data":null,"errors":["#
        + error("Cannot return null for non-nullable field Query.both.", 1, 5, #""both",1,1"#)
        + "]}")
  }

  @Test func `objects of abstract types say what they are`() {
    #expect(
      result(
        "{ node { __typename id ... on User { name } } either { ... on Node { id } } }",
        #"{"node": {"__typename": "User", "id": 1, "name": "A"}, "either": {"__typename": "Pet", "id": 2}}"#
      ) == #"{"data":{"node":{"__typename":"User","id":"1","name":"A"},"either":{"id":"2"}}}"#)
    for (value, message) in [
      (
        "{}",
        #"Abstract type \"Node\" must resolve to an Object type at runtime for field \"Query.node\". Either the \"Node\" type should provide a \"resolveType\" function or each possible type should provide an \"isTypeOf\" function."#
      ),
      (
        #"{"__typename": "Cow"}"#,
        #"Abstract type \"Node\" was resolved to a type \"Cow\" that does not exist inside the schema."#
      ),
      (
        #"{"__typename": "U"}"#,
        #"Abstract type \"Node\" was resolved to a non-object type \"U\"."#
      ),
      (
        #"{"__typename": "Query"}"#,
        #"Runtime Object type \"Query\" is not a possible type for \"Node\"."#
      ),
    ] {
      #expect(
        result("{ node { id } }", "{\"node\": \(value)}")
          == #"{"data":{"node":null},"errors":["# + error(message, 1, 3, "\"node\"") + "]}")
    }
  }

  @Test func `a request that fails before execution has no data`() {
    #expect(
      result("{ xyz }")
        == #"{"errors":[{"message":"Cannot query field \"xyz\" on type \"Query\".","locations":[{"line":1,"column":3}],"extensions":{"rule":"FieldsOnCorrectTypeRule"}}]}"#
    )
    #expect(
      result("query A { i } query B { i }")
        == #"{"errors":[{"message":"Must provide operation name if query contains multiple operations.","locations":[]}]}"#
    )
    #expect(
      result("query A { i }", operation: "\"B\"")
        == #"{"errors":[{"message":"Unknown operation named \"B\".","locations":[]}]}"#)
    #expect(
      result("query ($n: Int!) { echo(n: $n) }")
        == #"{"errors":[{"message":"Variable \"$n\" of required type \"Int!\" was not provided.","locations":[{"line":1,"column":8}]}]}"#
    )
  }

  @Test func `mutations run one after the other and fail as a whole where they must`() {
    #expect(
      result("mutation { first again: first }", #"{"first": 1}"#)
        == #"{"data":{"first":1,"again":1}}"#)
    #expect(
      result("mutation { first second }", #"{"first": 1}"#)
        == #"{"data":null,"errors":["#
        + error("Cannot return null for non-nullable field Mutation.second.", 1, 18, "\"second\"")
        + "]}")
  }

  @Test func `an argument that turns out null is an error of its field`() {
    #expect(
      result("query ($n: Int) { i echo(n: $n) }", #"{"i": 1}"#, variables: #"{"n": null}"#)
        == #"{"data":{"i":1,"echo":null},"errors":["#
        + error(
          #"Argument \"n\" of non-null type \"Int!\" must not be null."#, 1, 29, "\"echo\"") + "]}")
  }

  @Test func `introspection answers from the schema`() {
    #expect(
      result(
        "{ __type(name: \"Color\") { kind enumValues { name } } none: __type(name: \"X\") { kind } __schema { mutationType { fields { name type { kind ofType { name } } } } } }"
      )
        == #"{"data":{"__type":{"kind":"ENUM","enumValues":[{"name":"RED"}]},"none":null,"__schema":{"mutationType":{"fields":[{"name":"first","type":{"kind":"SCALAR","ofType":null}},{"name":"second","type":{"kind":"NON_NULL","ofType":{"name":"Int"}}}]}}}}"#
    )
  }

  /// U+212A (kelvin sign) differs from the letter K, although Unicode treats them as equivalent.
  @Test func `names are the same if their characters are`() {
    let sign = "\u{212A}"
    func run(_ document: String, _ rest: String) -> String {
      var request = JSONWriter()
      request.append("{\"id\":\"\",\"op\":\"execute\",\"document\":")
      request.write(document)
      request.append(",\"schema\":")
      request.write(
        """
        type Query { K: Int, e(e: E): E, i(i: I): Int, u: U, o(x: String): Int }
        type K { a: Int } union U = K enum E { K } input I { K: Int }
        """)
      request.append(Array(",\(rest)}".utf8))
      var checker = BatchChecker()
      return String(decoding: checker.answer(request.finish()) ?? [], as: UTF8.self)
    }
    #expect(run("{K}", #""root": {"\#(sign)": 1}"#).contains(#"{"K":null}"#))
    #expect(
      run("{u {__typename}}", #""root": {"u": {"__typename": "\#(sign)"}}"#).contains("exist"))
    #expect(run("{e}", #""root": {"e": "\#(sign)"}"#).contains("cannot represent"))
    #expect(
      run("query ($e: E) {e(e: $e)}", #""variables": {"e": "\#(sign)"}"#).contains("not exist"))
    #expect(
      run("query ($i: I) {i(i: $i)}", #""variables": {"i": {"\#(sign)": 1}}"#)
        .contains("is not defined by type"))
    #expect(
      run("query ($K: Int!) {i(i: {K: $K})}", #""variables": {"\#(sign)": 1}"#)
        .contains("not provided"))
    #expect(run("query K {K}", #""operationName": "\#(sign)""#).contains("Unknown operation"))
    #expect(run("{__type(name: \"\(sign)\") {name}}", #""root": 0"#).contains(#"{"__type":null}"#))
    #expect(run("{__type(name: \"K\") {name}}", #""root": 0"#).contains(#"{"name":"K"}"#))
    #expect(
      run("{o(x: \"\u{E9}\") o(x: \"e\u{301}\")}", #""root": 0"#).contains("differing arguments"))
  }
}
