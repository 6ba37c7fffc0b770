import JSON
import OracleSupport
import TestSupport
import Testing

/// Patches by RFC 6902, applied here by the letter of it, give what they were made for.
@Suite(.blocks) struct JSONPatchTests {
  private func value(_ text: String) throws -> JSONValue { try JSONParser.parse(Array(text.utf8)) }

  private func text(_ value: JSONValue) -> [UInt8] {
    var json = JSONWriter()
    json.write(value)
    return json.finish()
  }

  private func patch(_ old: String, _ new: String) throws -> String {
    String(decoding: JSONPatch.bytes(from: try value(old), to: try value(new)), as: UTF8.self)
  }

  @Test(arguments: [
    (#"{"a":1}"#, #"{"a":1}"#, "[]"),
    (
      #"{"a":1,"b":{"c":2}}"#, #"{"a":1,"b":{"c":3}}"#,
      #"[{"op":"replace","path":"/b/c","value":3}]"#
    ),
    (#"{"a":1}"#, #"{"b":1}"#, #"[{"op":"replace","path":"","value":{"b":1}}]"#),
    ("1", "null", #"[{"op":"replace","path":"","value":null}]"#),
    (#"{"a/b~c":1}"#, #"{"a/b~c":2}"#, #"[{"op":"replace","path":"/a~1b~0c","value":2}]"#),
    // The same to readers, and yet other characters.
    ("\"\u{e9}\"", "\"e\u{301}\"", "[{\"op\":\"replace\",\"path\":\"\",\"value\":\"e\u{301}\"}]"),
    // A page that gets a new first element.
    ("[1,2,3]", "[0,1,2]", #"[{"op":"remove","path":"/2"},{"op":"add","path":"/0","value":0}]"#),
    (
      #"[{"n":1},{"n":2},{"n":3}]"#, #"[{"n":0},{"n":1},{"n":7},{"n":3}]"#,
      #"[{"op":"replace","path":"/1/n","value":7},{"op":"add","path":"/0","value":{"n":0}}]"#
    ),
    (
      "[1,2,3]", "[]",
      #"[{"op":"remove","path":"/2"},{"op":"remove","path":"/1"},{"op":"remove","path":"/0"}]"#
    ),
    ("[]", "[1,2]", #"[{"op":"add","path":"/0","value":1},{"op":"add","path":"/1","value":2}]"#),
  ])
  func `a patch says what is another, and no more`(_ old: String, _ new: String, _ patch: String)
    throws
  {
    #expect(try self.patch(old, new) == patch)
  }

  @Test func `whatever becomes of a value, its patch makes it so`() throws {
    var random = SeededGenerator(seed: 7)
    for _ in 0..<3_000 {
      let old = Self.any(&random, depth: 0)
      let new =
        Bool.random(using: &random) ? Self.changed(old, &random) : Self.any(&random, depth: 0)
      let patch = JSONPatch.bytes(from: old, to: new)
      let applied = try old.patched(by: JSONParser.parse(patch))
      #expect(text(applied) == text(new), "\(old) \(new) \(String(decoding: patch, as: UTF8.self))")
    }
  }

  @Test func `lists of any length are patched`() throws {
    let old = JSONValue.array((0..<1_000).map { .number("\($0)") })
    let new = JSONValue.array((0..<1_000).map { .number("\($0 / 300 == 1 ? $0 + 5_000 : $0)") })
    let patch = try JSONParser.parse(JSONPatch.bytes(from: old, to: new))
    #expect(try old.patched(by: patch) == new)
  }

  // MARK: Values

  private static let names = ["a", "b", "a/b", "~", "", "\u{e9}"]

  private static func any(_ random: inout SeededGenerator, depth: Int) -> JSONValue {
    switch Int.random(in: 0..<(depth < 3 ? 7 : 5), using: &random) {
    case 0: return .null
    case 1: return .boolean(Bool.random(using: &random))
    case 2: return .number("\(Int.random(in: 0..<4, using: &random))")
    case 3, 4: return .string(names.randomElement(using: &random) ?? "")
    case 5:
      return .array(
        (0..<Int.random(in: 0..<6, using: &random)).map { _ in any(&random, depth: depth + 1) })
    default:
      return .object(
        names.filter { _ in Bool.random(using: &random) }.map {
          JSONValue.Member(name: $0, value: any(&random, depth: depth + 1))
        })
    }
  }

  /// Returns the value with random changes.
  private static func changed(_ value: JSONValue, _ random: inout SeededGenerator) -> JSONValue {
    switch value {
    case .null, .boolean, .number, .string: return any(&random, depth: 2)
    case .object(let members):
      return .object(
        members.map { member in
          guard Bool.random(using: &random) else { return member }
          return JSONValue.Member(name: member.name, value: changed(member.value, &random))
        })
    case .array(var elements):
      for _ in 0..<Int.random(in: 0..<3, using: &random) {
        let place = Int.random(in: 0...elements.count, using: &random)
        switch Int.random(in: 0..<3, using: &random) {
        case 0: elements.insert(any(&random, depth: 2), at: place)
        case 1 where place < elements.count: elements.remove(at: place)
        case 2 where place < elements.count: elements[place] = changed(elements[place], &random)
        default: break
        }
      }
      return .array(elements)
    }
  }
}
