import GraphQLResponse
import Testing

struct RequestIdentityTests {
  private static let traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

  @Test func `a traceparent is read and its ids are written as they came`() throws {
    let trace = try #require(TraceContext(traceparent: Self.traceparent))
    #expect(trace.id.description == "4bf92f3577b34da6a3ce929d0e0e4736")
    #expect(trace.parentSpan?.description == "00f067aa0ba902b7")
    #expect(trace.isSampled == true)
    #expect(
      TraceContext(traceparent: Self.traceparent.dropLast(2) + "00")?.isSampled == false)
  }

  @Test func `a later version may say more`() {
    let later = "cc" + Self.traceparent.dropFirst(2)
    #expect(TraceContext(traceparent: later) != nil)
    #expect(TraceContext(traceparent: later + "-more-and-more") != nil)
    #expect(TraceContext(traceparent: later + "more") == nil)
  }

  @Test(arguments: [
    "", "-", "---", "00", traceparent + "-", traceparent + "-00", traceparent + " ",
    traceparent.uppercased(), "ff" + traceparent.dropFirst(2), "0x" + traceparent.dropFirst(2),
    "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
    "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
    "00-4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7-01",
    "00-4bf92f3577b34da6a3ce929d0e0e4736é-00f067aa0ba902b7-01",
    "00-４bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7-01",
    "00-+4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7-01",
    "01" + traceparent.dropFirst(2) + "-" + String(repeating: "a", count: 512),
  ])
  func `what is no traceparent is none`(_ text: String) {
    #expect(TraceContext(traceparent: text) == nil)
  }

  @Test func `a request is named as its proxy says, else like its trace`() throws {
    let trace = try #require(TraceContext(traceparent: Self.traceparent))
    #expect(RequestIdentity(trace: trace).id == trace.id.description)
    #expect(RequestIdentity(id: "a/b", trace: trace).id == "a/b")
    #expect(RequestIdentity.random().id.utf8.count == 32)
    #expect(RequestIdentity.random() != RequestIdentity.random())
  }

  @Test func `names are short and safe in a header, in JSON and in a log`() {
    for id in ["a", "7f3c-9A.b_~", "arn:aws/x=1+2@z", String(repeating: "x", count: 128)] {
      #expect(RequestIdentity.isValid(id: id.utf8), "\(id)")
    }
    for id in [
      "", " ", "a b", "a\"", "a\\", "a\n", "a\u{7F}", "é", "a,b", "a;b", "<a>", "{a}",
      String(repeating: "x", count: 129),
    ] {
      #expect(!RequestIdentity.isValid(id: id.utf8), "\(id)")
    }
  }
}
