import GraphQLLanguage
import GraphQLResponse
import JSON
import Testing

struct ErrorTests {
  private func json(_ errors: [GraphQLError]) -> String {
    String(decoding: JSONWriter.response(errors, requestID: "r1"), as: UTF8.self)
  }

  @Test func `errors are written with all they know`() {
    let error = GraphQLError(
      "A \"quoted\" word\n.", locations: [SourceLocation(line: 2, column: 3)],
      path: [.name("a"), .index(0)], code: .badUserInput)
    #expect(
      json([error, GraphQLError("B.", code: .timeout)])
        == #"{"errors":[{"message":"A \"quoted\" word\n.","locations":[{"line":2,"column":3}],"#
        + #""path":["a",0],"extensions":{"code":"BAD_USER_INPUT","requestId":"r1"}},"#
        + #"{"message":"B.","extensions":{"code":"TIMEOUT","requestId":"r1"}}]}"#)
  }

  @Test func `of a fault the client learns no more than that there is one`() {
    let error = GraphQLError.fault("The column secret has the type 25.", path: [.name("a")])
    #expect(
      json([error])
        == #"{"errors":[{"message":"An unexpected error occurred.","path":["a"],"#
        + #""extensions":{"code":"INTERNAL_SERVER_ERROR","requestId":"r1"}}]}"#)
    #expect(error.fullMessage == "The column secret has the type 25.")
  }

  @Test func `codes are written alike and once`() {
    let codes = ErrorCode.allCases.map(\.rawValue)
    #expect(Set(codes).count == codes.count)
    for code in codes { #expect(code.wholeMatch(of: /[A-Z]+(_[A-Z]+)*/) != nil, "\(code)") }
  }

  @Test(arguments: [
    (SyntaxError.Cause.syntax, ErrorCode.parseFailed), (.tooManyBytes, .documentTooLarge),
    (.tooManyTokens, .tokenLimitExceeded), (.nestedTooDeep, .nestingLimitExceeded),
  ])
  func `why a text was not read to its end has a code`(
    cause: SyntaxError.Cause, code: ErrorCode
  ) {
    let location = SourceLocation(line: 1, column: 2)
    let error = GraphQLError(SyntaxError("No.", at: location, cause: cause))
    #expect(error == GraphQLError("No.", locations: [location], code: code))
  }

  @Test func `a path is shown as it would be written`() {
    let path: [PathSegment] = [.name("friends"), .index(0), .name("name")]
    #expect(path.accessText == ".friends[0].name")
  }
}
