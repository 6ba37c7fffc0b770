/// What the texts of a header meant in earlier requests. Clients repeat such a text, although the rest of
/// their heads differs, by a key or a trace in each.
final class HeaderMemory<Meaning> {
  private static var maximumCount: Int { 64 }
  private static var maximumBytes: Int { 512 }

  private var meanings: [String: Meaning] = [:]

  /// Returns what a text means.
  ///
  /// - Parameter read: reads a text that is not known.
  func meaning(of text: String, _ read: (String) -> Meaning) -> Meaning {
    if let known = meanings[text] { return known }
    let meaning = read(text)
    if text.utf8.count <= Self.maximumBytes {
      // One that sends another text each time must not displace all others for long.
      if meanings.count >= Self.maximumCount { meanings.removeAll(keepingCapacity: true) }
      meanings[text] = meaning
    }
    return meaning
  }
}
