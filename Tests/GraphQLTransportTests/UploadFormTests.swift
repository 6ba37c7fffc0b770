import JSON
import Testing

@testable import GraphQLTransport

/// `multipart/form-data`, and the requests with files in it.
struct UploadFormTests {
  private func body(_ parts: [(name: String, text: String)], boundary: String = "b") -> [UInt8] {
    var text = ""
    for part in parts {
      text += "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(part.name)\"\r\n\r\n"
      text += part.text + "\r\n"
    }
    return Array((text + "--\(boundary)--\r\n").utf8)
  }

  private func form(
    _ parts: [(name: String, text: String)], bytes: Int = 1000
  ) throws(TransportError) -> UploadForm {
    try UploadForm(
      body(parts), contentType: "multipart/form-data; boundary=b", maximumRequestBytes: bytes,
      maximumNesting: 20)
  }

  private func names(_ text: String, _ contentType: String) throws(TransportError) -> [String] {
    let bytes = Array(text.utf8)
    let form = try MultipartForm(bytes, contentType: contentType, maximumParts: 4)
    return form.parts.map { "\($0.name)=\(String(decoding: bytes[$0.content], as: UTF8.self))" }
  }

  // MARK: - Parts

  @Test(arguments: [
    ("--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nx\r\n--b--", ["a=x"]),
    ("--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n\r\n--b--\r\n", ["a="]),
    ("--b\r\ncontent-disposition:form-data;name=a\r\nX: y\r\n\r\nx\r\n--b--", ["a=x"]),
    (
      "preamble\r\n--b \t\r\nContent-Disposition: form-data; filename=\"; name=z\"; name=\"a b\"\r\n\r\n"
        + "1\r\n--c\r\n--\r\n2\r\n\r\n--b\r\nContent-Type: text/plain\r\n"
        + "Content-Disposition: form-data; name=\"\"\r\n\r\n-b\r\n--b--\r\nepilogue",
      ["a b=1\r\n--c\r\n--\r\n2\r\n", "=-b"]
    ),
    ("--b--", []),
  ])
  func `the parts of a form are told apart`(_ text: String, _ expected: [String]) throws {
    #expect(try names(text, "multipart/form-data; boundary=b") == expected)
    #expect(
      try names(text.replacing("--b", with: "--q r"), "multipart/form-data;boundary=\"q r\"")
        == expected.map { $0.replacing("--b", with: "--q r") })
  }

  @Test(arguments: [
    ("", "boundary=b"), ("--b--", ""), ("--b--", "boundary="), ("--c--", "boundary=b"),
    ("--b\r\n", "boundary=b"), ("--bc\r\n\r\n--b--", "boundary=b"),
    ("--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nx", "boundary=b"),
    ("--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nx\r\n--", "boundary=b"),
    ("--b\r\nContent-Disposition: form-data\r\n\r\nx\r\n--b--", "boundary=b"),
    ("--b\r\nX: \(String(repeating: "a", count: 5000))\r\n\r\nx\r\n--b--", "boundary=b"),
    ("--\(String(repeating: "b", count: 71))--", "boundary=\(String(repeating: "b", count: 71))"),
  ])
  func `what is no form is refused`(_ text: String, _ parameter: String) {
    #expect(throws: TransportError.self) {
      try names(text, "multipart/form-data; \(parameter)")
    }
  }

  @Test func `a form may not have more parts than are allowed`() throws {
    let parts = (0..<4).map { ("\($0)", "") }
    let bytes = String(decoding: body(parts), as: UTF8.self)
    #expect(try names(bytes, "multipart/form-data; boundary=b").count == 4)
    let more = String(decoding: body(parts + [("4", "")]), as: UTF8.self)
    #expect(throws: TransportError.form("it has more than 4 parts")) {
      try names(more, "multipart/form-data; boundary=b")
    }
  }

  // MARK: - Requests

  @Test func `each file stands where the map says`() throws {
    let form = try form([
      (
        "operations",
        #"{"query": "mutation", "variables": {"input": {"ids": [null, 1, null]}, "a.b": 1, "x": null}}"#
      ),
      ("map", #"{"0": ["variables.input.ids.0", "variables.x"], "z": ["variables.input.ids.2"]}"#),
      ("z", "last"), ("0", "first"),
    ])
    let files = (0..<form.count).map { String(decoding: form.file(at: $0), as: UTF8.self) }
    #expect(files == ["last", "first"])
    let request = try JSONValue.object(form.members(with: ["Z", "A"]))
    let expected = #"{"input": {"ids": ["A", 1, "Z"]}, "a.b": 1, "x": "A"}"#
    #expect(try request["variables"] == JSONParser.parse(Array(expected.utf8)))
  }

  @Test(arguments: [
    // The order of the parts, and their kinds.
    [("map", "{}"), ("operations", "{}"), ("0", "")], [("operations", "{}"), ("map", "{}")],
    [("operations", "[]"), ("map", #"{"0": ["variables.x"]}"#), ("0", "")],
    [("operations", "{"), ("map", #"{"0": ["variables.x"]}"#), ("0", "")],
    [("operations", #"{"variables": {"x": null}}"#), ("map", "[]"), ("0", "")],
    // The map names other files.
    [
      ("operations", #"{"variables": {"x": null}}"#), ("map", #"{"1": ["variables.x"]}"#),
      ("0", ""),
    ],
    [("operations", #"{"variables": {"x": null}}"#), ("map", "{}"), ("0", "")],
    [
      ("operations", #"{"variables": {"x": null}}"#), ("map", #"{"0": ["variables.x"]}"#),
      ("0", ""),
      ("0", ""),
    ],
    // It leads to no null of the variables.
    [("operations", #"{"variables": {"x": 1}}"#), ("map", #"{"0": ["variables.x"]}"#), ("0", "")],
    [("operations", #"{"variables": {}}"#), ("map", #"{"0": ["variables.x"]}"#), ("0", "")],
    [("operations", #"{"query": null}"#), ("map", #"{"0": ["query"]}"#), ("0", "")],
    [
      ("operations", #"{"variables": {"x": [null]}}"#), ("map", #"{"0": ["variables.x.1"]}"#),
      ("0", ""),
    ],
    [
      ("operations", #"{"variables": {"x": [null]}}"#), ("map", #"{"0": ["variables.x.-1"]}"#),
      ("0", ""),
    ],
    [("operations", #"{"variables": {"x": null}}"#), ("map", #"{"0": []}"#), ("0", "")],
    [("operations", #"{"variables": {"x": null}}"#), ("map", #"{"0": [1]}"#), ("0", "")],
    [
      ("operations", #"{"variables": {"x": null}}"#),
      ("map", #"{"0": ["variables.x"], "1": ["variables.x"]}"#),
      ("0", ""), ("1", ""),
    ],
  ])
  func `a form that is no request with files is refused`(_ parts: [(String, String)]) {
    #expect(throws: TransportError.self) { try form(parts.map { (name: $0.0, text: $0.1) }) }
  }

  @Test func `the request in a form has the limits of other requests`() {
    let long = #"{"variables": {"x": null, "y": "\#(String(repeating: "y", count: 1000))"}}"#
    #expect(throws: TransportError.form("\"operations\" and \"map\" may have 1000 bytes each")) {
      try form([("operations", long), ("map", #"{"0": ["variables.x"]}"#), ("0", "")])
    }
    let deep = String(repeating: "[", count: 30) + String(repeating: "]", count: 30)
    #expect(throws: TransportError.self) {
      try form([("operations", deep), ("map", #"{"0": ["variables.x"]}"#), ("0", "")])
    }
  }
}
