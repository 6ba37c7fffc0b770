import JSON

/// What the client of a live query is told of its answers: each that is another, whole or as what is to be changed.
///
/// As patches, `{"data":{...},"revision":1}` is followed by `{"patch":[...],"revision":2}`, operations of RFC 6902 on what
/// `data` was. Where these are longer than the answer, or it has errors, it is whole again, and revision 1.
struct LiveAnswers {
  /// Nil where answers are always whole.
  private var revision: Int?
  private var hash: Int?
  /// The last one, of which patches are made.
  private var body: [UInt8] = []

  init(asPatches: Bool) { revision = asPatches ? 0 : nil }

  var isEmpty: Bool { hash == nil }

  /// What to send for an answer; nil for the one that the client has.
  mutating func next(_ answer: [UInt8]) -> [UInt8]? {
    let hash = answer.hashValue
    guard hash != self.hash else { return nil }
    self.hash = hash
    guard let revision else { return answer }
    defer { body = answer }
    if revision > 0, let patch = Self.patch(from: body, to: answer), patch.count < answer.count {
      self.revision = revision + 1
      return Array("{\"patch\":".utf8) + patch + ",\"revision\":\(revision + 1)}".utf8
    }
    self.revision = 1
    return answer.dropLast() + #","revision":1}"#.utf8
  }

  /// Nil where one of them is no plain `{"data":...}`.
  private static func patch(from old: [UInt8], to new: [UInt8]) -> [UInt8]? {
    guard let old = data(old), let new = data(new) else { return nil }
    return JSONPatch.bytes(from: old, to: new)
  }

  private static func data(_ body: [UInt8]) -> JSONValue? {
    guard case .object(let members)? = try? JSONParser.parse(body), members.count == 1,
      let member = members.first, member.isNamed("data")
    else { return nil }
    return member.value
  }
}
