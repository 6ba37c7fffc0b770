import JSON

/// The responses that the client of a live query receives: each result that differs from the last one, complete or as a
/// patch.
///
/// With patches, `{"data":{...},"revision":1}` is followed by `{"patch":[...],"revision":2}`, operations of RFC 6902 on
/// the last `data`. If a patch is longer than the result, or the result has errors, the response is complete again, with
/// revision 1.
struct LiveResponses {
  /// The revision of the last response, or nil without patches.
  private var revision: Int?
  private var hash: Int?
  /// The last result, which the next patch changes.
  private var body: [UInt8] = []

  init(asPatches: Bool) { revision = asPatches ? 0 : nil }

  var isEmpty: Bool { hash == nil }

  /// Returns the response for a result, or nil if the client has that result.
  mutating func next(_ result: [UInt8]) -> [UInt8]? {
    let hash = result.hashValue
    guard hash != self.hash else { return nil }
    self.hash = hash
    guard let revision else { return result }
    defer { body = result }
    if revision > 0, let patch = Self.patch(from: body, to: result), patch.count < result.count {
      self.revision = revision + 1
      return Array("{\"patch\":".utf8) + patch + ",\"revision\":\(revision + 1)}".utf8
    }
    self.revision = 1
    return result.dropLast() + #","revision":1}"#.utf8
  }

  /// Returns nil if one of them is not just `{"data":...}`.
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
