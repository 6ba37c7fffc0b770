/// The words of a text, as the search compares them.
enum SearchWords {
  /// Returns the words in lower case, without their endings. A name such as `createPost` has two.
  /// Words that say nothing about the subject are left out.
  static func words(of text: String) -> [String] {
    var words: [String] = []
    var word: [UInt8] = []
    func finish() {
      guard !word.isEmpty else { return }
      let text = String(decoding: word, as: UTF8.self)
      if !ignored.contains(text) { words.append(stem(text)) }
      word = []
    }
    var wasSmall = false
    for byte in text.utf8 {
      let isCapital = byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z")
      let isSmall =
        byte >= UInt8(ascii: "a") && byte <= UInt8(ascii: "z")
        || byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
      if isCapital && wasSmall || !isCapital && !isSmall { finish() }
      if isCapital || isSmall { word.append(isCapital ? byte | 0x20 : byte) }
      wasSmall = isSmall
    }
    finish()
    return words
  }

  /// Returns a word without the ending of its form, so that `offers` and `offered` are one.
  private static func stem(_ word: String) -> String {
    var stem = word
    for (ending, replacement) in endings
    where stem.hasSuffix(ending) && stem.utf8.count - ending.utf8.count >= 3 {
      if ending == "s", stem.hasSuffix("ss") { continue }
      stem = stem.dropLast(ending.count) + replacement
      break
    }
    if stem.utf8.count > 4, stem.hasSuffix("e") { stem.removeLast() }
    let end = Array(stem.utf8.suffix(2))
    if stem.utf8.count > 3, end.count == 2, end[0] == end[1], !"ls".utf8.contains(end[0]) {
      stem.removeLast()
    }
    return stem
  }

  private static let endings: KeyValuePairs<String, String> = [
    "sses": "ss", "ents": "", "ent": "", "ies": "y", "ing": "", "ed": "", "ers": "er", "es": "",
    "s": "", "ion": "", "ly": "",
  ]

  private static let ignored: Set<String> = Set(
    """
    a an and are as at be by can do does for from has have how i if in is it its may me my myself no
    not of on one or so somebody that the their them there they this to what when where which who
    whom whose will with you your all any each
    """.split(whereSeparator: \.isWhitespace).map(String.init))
}
