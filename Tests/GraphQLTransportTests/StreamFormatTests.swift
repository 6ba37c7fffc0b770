import GraphQLResponse
import GraphQLTransport
import Testing

/// In which form a client takes several answers or parts of one, by what clients send.
struct StreamFormatTests {
  @Test(
    arguments: [
      // Apollo's clients, and GraphiQL's.
      ("multipart/mixed;deferSpec=20220824,application/json", .parts(.v20220824)),
      (
        "multipart/mixed;deferSpec=20220824,application/graphql-response+json,application/json;q=0.9",
        .parts(.v20220824)
      ),
      (
        "multipart/mixed;incrementalSpec=v0.2,application/graphql-response+json,application/json;q=0.9",
        .parts(.v02)
      ),
      // In quotes, in capitals, in another order, with spaces and other parameters.
      ("multipart/mixed; deferSpec=\"20220824\", application/json", .parts(.v20220824)),
      ("Multipart/Mixed;IncrementalSpec=\"V0.2\"", .parts(.v02)),
      ("application/json;q=0.9,multipart/mixed;incrementalSpec=v0.2", .parts(.v02)),
      ("multipart/mixed ; boundary=\"-\" ; q=0.5 ; deferSpec = 20220824", .parts(.v20220824)),
      ("text/event-stream", .eventStream),
      ("text/event-stream, multipart/mixed;incrementalSpec=v0.2", .parts(.v02)),
      // What says no form, another one, or none.
      ("multipart/mixed", nil), ("multipart/mixed;deferSpec=20190101", nil),
      ("multipart/mixed;boundary=\"deferSpec=20220824\"", nil),
      ("multipart/mixed;deferSpec=20220824;q=0,application/json", nil),
      ("multipart/mixed;boundary=graphql;subscriptionSpec=1.0,application/json", nil),
      ("application/json", nil), ("*/*", nil), ("", nil),
    ] as [(String, StreamFormat?)])
  func `parts are sent as Accept says, however that is written`(
    _ accept: String, _ expected: StreamFormat?
  ) {
    #expect(StreamFormat.ofParts(accept: accept) == expected)
  }

  @Test(
    arguments: [
      ("multipart/mixed;boundary=graphql;subscriptionSpec=1.0,application/json", .multipart),
      ("multipart/mixed;subscriptionSpec=\"1.0\";boundary=\"graphql\"", .multipart),
      ("application/json, MULTIPART/MIXED; SUBSCRIPTIONSPEC=1.0", .multipart),
      ("text/event-stream", .eventStream),
      ("Text/Event-Stream;q=0.1, application/json", .eventStream),
      // urql's, and whoever takes both.
      ("text/event-stream, multipart/mixed", .eventStream),
      ("multipart/mixed;subscriptionSpec=1.0, text/event-stream", .eventStream),
      ("multipart/mixed", nil), ("multipart/mixed;subscriptionSpec=2.0", nil),
      ("multipart/mixed;subscriptionSpec=1.0;q=0", nil), ("text/event-stream;q=0", nil),
      ("application/json", nil), ("*/*", nil),
    ] as [(String, StreamFormat?)])
  func `what a subscription tells is sent as Accept says, however that is written`(
    _ accept: String, _ expected: StreamFormat?
  ) {
    #expect(StreamFormat(accept: accept) == expected)
  }
}
