import Foundation
import JSON
import Postgres
import TestSupport
import Testing

/// The catalogue of phrases: that it is whole, in each language, and says what functions ask of it.
@Suite(.usesCluster) struct PhraseTests {
  private struct Phrase: Hashable {
    let key: String
    let form: String
  }

  private static let languages = ["en", "es", "de"]

  private let data: GraphData

  init() throws { data = try GraphServer.shared.data() }

  private func phrases(_ language: String) throws -> [Phrase: String] {
    let rows = try data.run(
      "SELECT key, form, words FROM phrase WHERE locale = $1 AND is_shipped", [language])
    return Dictionary(
      uniqueKeysWithValues: rows.map { row in
        (Phrase(key: row[0] ?? "", form: row[1] ?? ""), row[2] ?? "")
      })
  }

  private func names(_ words: String) -> [String] {
    words.matches(of: /\{([a-z]+)\}/).map { String($0.output.1) }
  }

  /// The texts of the files with functions, by name.
  private static func sources() throws -> [String: String] {
    let folder = TestCluster.packageFolder + "/sql/functions"
    var sources: [String: String] = [:]
    for file in try FileManager.default.contentsOfDirectory(atPath: folder)
    where file.hasSuffix(".sql") {
      sources[file] = try String(contentsOfFile: folder + "/" + file, encoding: .utf8)
    }
    return sources
  }

  @Test func `every phrase exists in every language, with its plural forms and values`() throws {
    let english = try phrases("en")
    #expect(english.count > 150)
    #expect(
      try data.run("SELECT name FROM locale ORDER BY name").map { $0[0] } == ["de", "en", "es"])
    for language in Self.languages {
      let own = try phrases(language)
      #expect(Set(own.keys) == Set(english.keys), "\(language)")
      for (phrase, words) in own {
        #expect(
          Set(names(words)) == Set(names(english[phrase] ?? "")), "\(language) \(phrase): \(words)")
        // German, English and Spanish have two forms of what is counted.
        if names(words).contains("count") {
          #expect(own[Phrase(key: phrase.key, form: "one")] != nil, "\(language) \(phrase.key)")
        }
        #expect(own[Phrase(key: phrase.key, form: "other")] != nil, "\(language) \(phrase.key)")
      }
    }
  }

  @Test func `a phrase of a notification has one value besides actor, brand, and note`() throws {
    for (phrase, words) in try phrases("en") where phrase.key.first?.isUppercase == true {
      let others = names(words).filter { !["actor", "brand", "note"].contains($0) }
      #expect(others.count <= 1, "\(phrase.key): \(words)")
    }
  }

  @Test func `every reason, button and code has a phrase`() throws {
    let schema = try GraphServer.mapping.get().schema
    let keys = Set(try phrases("en").keys.map(\.key))
    func values(_ type: String) -> [String] {
      guard case .enum(let values)? = schema.type(named: type)?.kind else { return [] }
      return values.map(\.name)
    }
    #expect(
      values("NotificationReason").filter { reason in
        !keys.contains { $0 == reason || $0.hasPrefix(reason + ".") }
      } == [])
    #expect(values("NotificationActionKind").filter { !keys.contains("action." + $0) } == [])
    #expect(values("UserErrorCode").count >= 25)
    #expect(values("UserErrorCode").filter { !keys.contains("error." + $0) } == [])
  }

  @Test func `every rule that a function names has a phrase`() throws {
    let keys = Set(try phrases("en").keys.map(\.key))
    var rules = 0
    for (file, text) in try Self.sources() {
      // Across lines, up to the rule: worded(refusal(...), 'RULE'
      for match in text.matches(
        of: /worded\(refusal\((?:[^()']|'[^']*'|\([^()]*\))*\),\s*'([A-Z_]+)'/)
      {
        rules += 1
        #expect(keys.contains("error.\(match.output.1)"), "\(file): \(match.output.1)")
      }
    }
    #expect(rules > 60)
  }

  @Test func `nobody is told only that something is invalid`() throws {
    let keys = Set(try phrases("en").keys.map(\.key))
    for (file, text) in try Self.sources() {
      for match in text.matches(
        of: /(\w+\()?refus(?:e|al)\('INVALID'((?:, (?:VARIADIC )?[^,()]+)*)\)/)
      where match.output.1 != "worded(" {
        let place = match.output.2.split(separator: ",").last.map {
          $0.replacing("'", with: "").trimmingCharacters(in: .whitespaces)
        }
        #expect(keys.contains("error.INVALID.\(place ?? "")"), "\(file): \(match.output.0)")
      }
    }
  }

  @Test func `messages are sentences for people, and name no mutation, field or type`() throws {
    for language in Self.languages {
      let wrong = try phrases(language).filter { phrase, words in
        phrase.key.hasPrefix("error.")
          && (words.split(separator: " ").count < 2 || !words.hasSuffix(".")
            || words.contains(/[a-z][A-Z]/) || words.first?.isLowercase != false)
      }
      #expect(wrong.isEmpty, "\(language): \(wrong)")
    }
  }

  // MARK: Finding and filling

  private func value(_ expression: String) throws -> String? {
    try data.run("SELECT \(expression)")[0][0]
  }

  @Test(arguments: [
    ("'de'", "de"), ("'de-CH-1996 fr'", "de"), ("'xx es'", "es"), ("'ES-mx'", "es"), ("'xx'", "en"),
    ("''", "en"), ("NULL", "en"),
  ])
  func `a language is looked for as RFC 4647 says`(tags: String, language: String) throws {
    #expect(try value("spoken(\(tags))") == language)
  }

  @Test func `values are put in once, so that a name of braces remains a name`() throws {
    #expect(
      try value(
        """
        phrase('en', 'following.summary.other', '{"name": "{count} {name}", "count": 2}')
        """) == "{count} {name} is following 2 people")
    #expect(
      try value(
        """
        notification_text('de', 'EVENT_INVITED',
          ARRAY['<b>' || escaped('{title} %1$s <i>') || '</b>', escaped('100 % & {actor}')], NULL)
        """)
        == "<b>{title} %1$s &lt;i&gt;</b> lädt dich zu „100 % &amp; {actor}“ ein.")
  }

  @Test func `a number has the plural and the groups of its language`() throws {
    #expect(
      try value("notification_text('en', 'VOTED.outfit_post', '{}', 1)") == "1 vote on your outfit."
    )
    #expect(
      try value("notification_text('en', 'VOTED.outfit_post', '{}', 12345)")
        == "12,345 votes on your outfit.")
    #expect(
      try value("notification_text('es', 'VOTED.outfit_post', '{}', 12345)")
        == "12.345 votos para tu conjunto.")
  }

  @Test func `a key is looked for without its end, and a dialect in its language`() throws {
    #expect(try value("phrase_words('es-MX', 'error.TAKEN.nothing')") == "Esto ya está ocupado.")
    #expect(try value("phrase_words('en', 'nothing.at.all')") == nil)
    #expect(try value("phrase('en', 'nothing.at.all')") == "nothing.at.all")
    // As of a notification without a button.
    #expect(try value("phrase('en', NULL)") == nil)
  }

  @Test func `an operator's phrase comes before the shipped one, and survives the files`() throws {
    let database = try TestCluster.newDatabase(migrated: true)
    let session = try TestCluster.session(database)
    try session.execute(
      """
      SET search_path = graph, public;
      INSERT INTO phrase (locale, key, words) VALUES ('en', 'error.FULL', 'We are full.');
      CALL phrases('en', E'error.FULL: Shipped.\\nerror.NEW: Of two\\n  lines.')
      """)
    let rows = try session.execute(
      "SELECT phrase_words('en', 'error.FULL'), phrase_words('en', 'error.NEW')")
    #expect(rows == [["We are full.", "Of two lines."]])
    #expect(throws: PostgresError.self) {
      try session.execute("CALL phrases('en', 'no phrase')")
    }
  }
}
