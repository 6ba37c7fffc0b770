/// The words of a name in a database, and their English singular and plural.
struct Words: Hashable {
  /// The words in lower case, of ASCII letters and digits.
  private(set) var words: [String]

  /// Splits a name where a character is neither letter nor digit, and where an upper-case letter
  /// begins a word: `CustomerID`, `customer_id` and `customer id` have the same words.
  init(_ name: String) {
    words = []
    var word = ""
    let scalars = Array(Self.ascii(name).unicodeScalars)
    for (place, scalar) in scalars.enumerated() {
      guard Self.isLetter(scalar) || Self.isDigit(scalar) else {
        if !word.isEmpty { words.append(word) }
        word = ""
        continue
      }
      let isUpper = Self.isUpper(scalar)
      let previous = place > 0 ? scalars[place - 1] : nil
      let next = place + 1 < scalars.count ? scalars[place + 1] : nil
      // "customerId" and "HTTPServer", but not "IDs".
      let endsWord =
        isUpper
        && (previous.map { Self.isLower($0) || Self.isDigit($0) } ?? false
          || previous.map(Self.isUpper) ?? false && next.map(Self.isLower) ?? false
            && !(next == "s" && (place + 2 == scalars.count || !Self.isLower(scalars[place + 2]))))
      if endsWord, !word.isEmpty {
        words.append(word)
        word = ""
      }
      word.unicodeScalars.append(
        isUpper ? Unicode.Scalar(UInt8(scalar.value) | 0x20) : scalar)
    }
    if !word.isEmpty { words.append(word) }
  }

  init(_ words: [String]) { self.words = words }

  /// The words as the name of a field.
  var camel: String {
    let rest = words.dropFirst().map(Self.capitalized).joined()
    return Self.safe((words.first ?? "") + rest)
  }

  /// The words as the name of a type.
  var pascal: String { Self.safe(words.map(Self.capitalized).joined()) }

  var singular: Words { Words(words.dropLast() + words.suffix(1).map(Inflection.singular)) }
  var plural: Words { Words(words.dropLast() + words.suffix(1).map(Inflection.plural)) }

  /// The words without one of these at the end; nil if the last word is none of them, or the only
  /// one.
  func dropping(_ endings: Set<String>) -> Words? {
    guard words.count > 1, let last = words.last, endings.contains(last) else { return nil }
    return Words(Array(words.dropLast()))
  }

  /// Returns whether a text is a name of GraphQL that is not reserved.
  static func isName(_ text: String) -> Bool {
    let bytes = text.utf8
    guard let first = bytes.first, !(0x30...0x39).contains(first), !text.hasPrefix("__") else {
      return false
    }
    return bytes.allSatisfy { byte in
      byte == UInt8(ascii: "_") || (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte)
        || (0x61...0x7A).contains(byte)
    }
  }

  private static func capitalized(_ word: String) -> String {
    word.prefix(1).uppercased() + word.dropFirst()
  }

  /// Returns a name that GraphQL accepts: not empty, and without a digit in front.
  private static func safe(_ name: String) -> String {
    guard let first = name.unicodeScalars.first else { return "unnamed" }
    return isDigit(first) ? "_" + name : name
  }

  /// Returns the name with other letters than those of ASCII written out: `Größe` is `Grosse`, and
  /// what has no such form is its number.
  private static func ascii(_ name: String) -> String {
    guard !name.utf8.allSatisfy({ $0 < 0x80 }) else { return name }
    var result = ""
    for scalar in name.unicodeScalars {
      if scalar.isASCII {
        result.unicodeScalars.append(scalar)
      } else if let plain = Self.plain[scalar] {
        result += plain
      } else if scalar.properties.isAlphabetic || scalar.properties.numericType != nil {
        result += "u" + String(scalar.value, radix: 16)
      } else {
        result += " "
      }
    }
    return result
  }

  /// The letters of Western European languages by their ASCII forms.
  private static let plain: [Unicode.Scalar: String] = {
    let forms: [(String, String)] = [
      ("àáâãåā", "a"), ("ÀÁÂÃÅĀ", "A"), ("ä", "ae"), ("Ä", "Ae"), ("æ", "ae"), ("Æ", "Ae"),
      ("çćč", "c"), ("ÇĆČ", "C"), ("ďđð", "d"), ("ĎĐÐ", "D"), ("èéêëēęě", "e"), ("ÈÉÊËĒĘĚ", "E"),
      ("ìíîïī", "i"), ("ÌÍÎÏĪİ", "I"), ("ı", "i"), ("łľ", "l"), ("ŁĽ", "L"), ("ñńň", "n"),
      ("ÑŃŇ", "N"), ("òóôõøōő", "o"), ("ÒÓÔÕØŌŐ", "O"), ("ö", "oe"), ("Ö", "Oe"), ("ŕř", "r"),
      ("ŔŘ", "R"), ("śšş", "s"), ("ŚŠŞ", "S"), ("ß", "ss"), ("ťţ", "t"), ("ŤŢ", "T"),
      ("ùúûūůű", "u"), ("ÙÚÛŪŮŰ", "U"), ("ü", "ue"), ("Ü", "Ue"), ("ýÿ", "y"), ("ÝŸ", "Y"),
      ("źżž", "z"), ("ŹŻŽ", "Z"), ("ğ", "g"), ("Ğ", "G"),
    ]
    var result: [Unicode.Scalar: String] = [:]
    for (letters, form) in forms {
      for scalar in letters.unicodeScalars { result[scalar] = form }
    }
    return result
  }()

  private static func isLower(_ scalar: Unicode.Scalar) -> Bool { ("a"..."z").contains(scalar) }
  private static func isUpper(_ scalar: Unicode.Scalar) -> Bool { ("A"..."Z").contains(scalar) }
  private static func isLetter(_ scalar: Unicode.Scalar) -> Bool {
    isLower(scalar) || isUpper(scalar)
  }
  private static func isDigit(_ scalar: Unicode.Scalar) -> Bool { ("0"..."9").contains(scalar) }
}

/// The singular and plural of English nouns in lower case, by the usual endings and a list of those
/// that have others.
enum Inflection {
  static func singular(_ word: String) -> String {
    if unchanged.contains(word) { return word }
    if let known = singulars[word] { return known }
    if plurals[word] != nil { return word }
    for (ending, replacement) in endings where word.hasSuffix(ending) {
      guard word.utf8.count > ending.utf8.count else { return word }
      return word.dropLast(ending.count) + replacement
    }
    guard word.hasSuffix("s"), word.utf8.count > 2 else { return word }
    return String(word.dropLast())
  }

  static func plural(_ word: String) -> String {
    if unchanged.contains(word) { return word }
    if let known = plurals[word] { return known }
    // A word that is a plural already.
    if singular(word) != word { return word }
    if word.hasSuffix("sis") { return word.dropLast(2) + "es" }
    if ["s", "x", "z", "ch", "sh"].contains(where: word.hasSuffix) { return word + "es" }
    if word.hasSuffix("y"), let before = word.dropLast().last, !"aeiou".contains(before) {
      return word.dropLast() + "ies"
    }
    return word + "s"
  }

  /// The endings of plurals, in the order in which they are tried.
  private static let endings = [
    ("ss", "ss"), ("us", "us"), ("is", "is"), ("sses", "ss"), ("shes", "sh"), ("ches", "ch"),
    ("xes", "x"), ("zzes", "zz"), ("atuses", "atus"), ("iruses", "irus"), ("onuses", "onus"),
    ("ampuses", "ampus"), ("ensuses", "ensus"), ("ies", "y"),
    ("oes", "o"),
  ]

  private static let unchanged: Set<String> = [
    "news", "series", "species", "sheep", "fish", "deer", "equipment", "information", "data",
    "metadata", "media", "software", "hardware", "staff", "money", "gps", "sms", "dns", "css",
    "aws", "cms", "pos", "gas", "sales", "settings", "goods", "means", "tls", "https", "os",
    "analytics", "statistics", "stats", "logistics", "lens", "chaos", "has", "was", "yes", "as",
    "is",
  ]

  private static let plurals = [
    "person": "people", "child": "children", "man": "men", "woman": "women", "foot": "feet",
    "tooth": "teeth", "mouse": "mice", "goose": "geese", "index": "indexes", "quiz": "quizzes",
    "leaf": "leaves", "life": "lives", "wife": "wives", "knife": "knives", "shelf": "shelves",
    "half": "halves", "wolf": "wolves", "self": "selves", "thief": "thieves", "loaf": "loaves",
    "hero": "heroes", "potato": "potatoes", "tomato": "tomatoes", "echo": "echoes",
    "veto": "vetoes", "criterion": "criteria", "phenomenon": "phenomena", "movie": "movies",
    "cookie": "cookies", "selfie": "selfies", "pie": "pies", "tie": "ties", "zombie": "zombies",
    "cache": "caches", "niche": "niches", "ache": "aches", "shoe": "shoes", "toe": "toes",
    "menu": "menus", "axis": "axes", "bus": "buses", "focus": "focuses", "thesis": "theses",
    "analysis": "analyses", "crisis": "crises", "diagnosis": "diagnoses",
    "hypothesis": "hypotheses", "synopsis": "synopses", "alias": "aliases", "bias": "biases",
    "atlas": "atlases", "canvas": "canvases",
  ]

  private static let singulars: [String: String] = {
    var result: [String: String] = [
      "vertices": "vertex", "matrices": "matrix", "indices": "index", "axes": "axis",
      "ids": "id", "statuses": "status", "taxis": "taxi", "skis": "ski", "apis": "api",
      "emojis": "emoji", "kpis": "kpi", "uris": "uri", "guis": "gui", "gpus": "gpu",
      "cpus": "cpu", "skus": "sku", "quizzes": "quiz",
    ]
    for (singular, plural) in plurals where result[plural] == nil { result[plural] = singular }
    return result
  }()
}
