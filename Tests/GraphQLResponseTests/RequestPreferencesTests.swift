import GraphQLResponse
import Testing

/// The languages and the application that a request names.
@Suite struct RequestPreferencesTests {
  @Test(arguments: [
    ("de", "de"), ("de-CH, de;q=0.9, fr;q=0.8", "de-CH de fr"),
    ("fr;q=0.5, es, de;q=0.7", "es de fr"), ("en;q=0.8, es;q=0.8", "en es"),
    ("xx, *;q=0.1", "xx"), ("de;q=0, en", "en"), ("de;q=0.000", ""),
    (" de\t;\tq=0.25 ,en ; q=0.3", "en de"), ("ES-mx", "ES-mx"), ("de;Q=1.000", "de"),
    // What is malformed is left out, and the rest counts.
    ("de;q=2, es", "es"), ("de;q=1.001, es", "es"), ("de;q=0.1234, es", "es"),
    ("de;level=1, es", "es"), ("a b, es", "es"), ("-, es", "es"), ("12, es", "es"),
    ("de_DE, es", "es"), ("abcdefghi, es", "es"), (",,;,es", "es"), ("", ""), ("*", ""),
  ])
  func `languages are in the order of their weights`(header: String, tags: String) {
    #expect(RequestPreferences(acceptLanguage: header, app: nil).locale == tags)
  }

  @Test func `a header is read up to a limit`() {
    let many = (0..<30).map { "a\($0)" }.joined(separator: ",")
    #expect(
      RequestPreferences(acceptLanguage: many, app: nil).locale.split(separator: " ").count == 10)
    let long = Array(repeating: "de", count: 500).joined(separator: ",")
    #expect(RequestPreferences(acceptLanguage: long, app: nil).locale == "")
    #expect(RequestPreferences(acceptLanguage: nil, app: nil) == RequestPreferences())
  }

  @Test(arguments: [
    ("gtio", "gtio"), ("GTIO", "gtio"), ("happy-mail", "happy-mail"), ("a.b_c2", "a.b_c2"),
    ("", ""), ("two words", ""), ("'; --", ""), (String(repeating: "a", count: 51), ""),
  ])
  func `an application has a name of a few characters`(header: String, app: String) {
    #expect(RequestPreferences(acceptLanguage: nil, app: header).app == app)
  }
}
