import Foundation
import JSON
import OracleSupport
import TestSupport
import Testing

@testable import Server

extension LiveTests {
  /// The page at `/`, in a browser that reaches nothing but the server.
  @Suite struct BrowserTests {
    static let hasBrowser =
      (try? LiveClients.tool("chromium", ["--version"]))?.status == 0
      && GraphiQLPage.installedFolder != nil

    /// What demo data has for the page, with one identity.
    static let demo = """
      {"identities": [{"name": "Eve", "token": "of-eve"}], "examples": [
        {"name": "An upload", "as": "of-eve", "variables": {"p": null}, "query":
          "mutation($p: ID) { updateProfile(input: {avatarPhotoId: $p}) { viewer { user { avatar { width } } } } }"}]}
      """

    @Test(
      .enabled(
        if: hasBrowser, "Chromium or GraphiQL's files are not installed; script/setup test does it."
      ))
    func `GraphiQL runs, explains and hears as who is signed in, and keeps no token`() throws {
      let folder = try TemporaryFolder()
      let picture = folder.path + "/picture.png"
      try Data(TestPicture.png(width: 33, height: 20)).write(to: URL(filePath: picture))
      let pictures = try TestPictures.service()
      let server = try LiveServer {
        $0.explains = true
        $0.pictures = pictures
        $0.pageContent.database = "shop"
        $0.pageContent.demo = Self.demo
      }
      let data = try server.graph.data()
      let ann = try data.person()
      let post = try data.post(.text, by: ann)
      let page = try LiveClients.start(
        "page.py", ["127.0.0.1:\(server.graph.port)", post.wire, ann.token, picture])
      try server.waitForHearing(1)
      _ = try data.comment(post, by: ann, "first comment")
      _ = try data.comment(post, by: ann, "second comment")
      try server.waitForHearing(0)
      try server.wait("sociograph_live_queries", 1)
      // The page shows the first result before there is another.
      page.wait(for: "\nlive true\n")
      _ = try data.comment(post, by: ann, "third comment")
      let result = page.finish()
      var seen: [String: JSONValue] = [:]
      for line in result.output.split(separator: "\n") {
        let parts = line.split(separator: " ", maxSplits: 1)
        if parts.count == 2, let value = try? JSONParser.parse(Array(parts[1].utf8)) {
          seen[String(parts[0])] = value
        }
      }
      #expect(result.status == 0, "\(result.output)")
      #expect(seen["viewer"] == .string(ann.username))
      #expect(seen["opening-390"] == true && seen["opening-1280"] == true, "\(result.output)")
      for place in ["light-390", "light-1280", "dark-390", "dark-1280"] {
        #expect(seen["start-\(place)"] == true, "\(place)")
      }
      #expect(seen["title"] == "shop – Sociograph")
      #expect(seen["served"] == "The social graph over the database \"shop\".")
      #expect(seen["identity"] == "of-eve")
      #expect(seen["upload"] == .number("33"))
      let events = seen["events"]?.array ?? []
      #expect(events.count == 2 && events.first?.string?.hasPrefix("1, after") == true)
      #expect(
        events.last?.string?.contains("data.node.commentCount 2 3") == true, "\(result.output)")
      #expect(seen["example"] == true)
      let figures = if case .string(let text)? = seen["figures"] { text } else { "" }
      #expect(figures.wholeMatch(of: #/[0-9.]+ ms, [0-9.]+ k?B, cost \d+/#) != nil, "\(figures)")
      #expect(seen["explorer"] == true)
      #expect(seen["plan"]?.array?.contains("viewer") == true, "\(result.output)")
      #expect(seen["subscription"] == "second comment")
      #expect(seen["live"] == true)
      #expect(seen["live-again"] == .number("3"))
      let accepted =
        "multipart/mixed;deferSpec=20220824, application/graphql-response+json;q=0.9, "
        + "application/json;q=0.8"
      let deferred = #"{"data":{"a":{"b":1,"c":2},"list":[1,2,3]},"errors":[{"message":"No."}]}"#
      #expect(
        seen["deferred"]
          == .array([.array([.string(accepted)]), try JSONParser.parse(Array(deferred.utf8))]))
      #expect(seen["stored"] == false)
      #expect(seen["telephone"] == true)
      #expect(seen["strangers"] == .array([]))
      #expect(seen["faults"] == .array([]), "\(result.output)")
    }
  }
}
