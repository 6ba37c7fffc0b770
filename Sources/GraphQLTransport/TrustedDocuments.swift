import JSON

/// The documents an operator has published, by their ids.
package struct TrustedDocuments: Sendable {
  /// How much they bind clients.
  package enum Level: String, Sendable, CaseIterable {
    /// They may be named by id; anything else may be sent as well.
    case off
    /// The same, and what is not among them is reported.
    case log
    /// Nothing else is executed.
    case allowList = "allow-list"
    /// Nothing else is executed, and only by id.
    case idOnly = "id-only"
  }

  private var texts: [String: String] = [:]
  private var ids: [String: String] = [:]

  package var count: Int { texts.count }

  package init() {}

  /// Reads `{"id": "document"}` (Relay, graphql-codegen) or Apollo's manifest
  /// (`{"format": "apollo-persisted-query-manifest", "operations": [{"id": …, "body": …}]}`).
  package init(manifest: [UInt8]) throws(ManifestError) {
    let value: JSONValue
    do throws(JSONError) {
      value = try JSONParser.parse(manifest)
    } catch {
      throw ManifestError(reason: error.description)
    }
    guard case .object(let members) = value else {
      throw ManifestError(reason: "Expected a JSON object.")
    }
    if case .string(let format)? = value["format"] {
      guard format == "apollo-persisted-query-manifest" else {
        throw ManifestError(reason: "The format \"\(format)\" is not known.")
      }
      guard case .array(let operations)? = value["operations"] else {
        throw ManifestError(reason: "Expected a list \"operations\".")
      }
      for operation in operations {
        guard case .string(let id)? = operation["id"], case .string(let body)? = operation["body"]
        else {
          throw ManifestError(reason: "Each operation needs an \"id\" and a \"body\".")
        }
        try add(id, body)
      }
      return
    }
    for member in members {
      guard case .string(let text) = member.value else {
        throw ManifestError(reason: "The document of \"\(member.name)\" is not a string.")
      }
      try add(member.name, text)
    }
  }

  private mutating func add(_ id: String, _ text: String) throws(ManifestError) {
    guard !id.isEmpty, !text.isEmpty else {
      throw ManifestError(reason: "Ids and documents must not be empty.")
    }
    if let known = texts[id], known != text {
      throw ManifestError(reason: "The id \"\(id)\" stands for two documents.")
    }
    texts[id] = text
    ids[text] = id
  }

  /// The document of an id, which may carry the prefix that says how it was made (`sha256:`).
  func text(id: String) -> String? {
    texts[id] ?? (id.hasPrefix("sha256:") ? texts[String(id.dropFirst(7))] : nil)
  }

  /// The published document that reads like this one. Execute its own text: strings are equal here
  /// when they differ only in how their characters are composed.
  func published(text: String) -> (id: String, text: String)? {
    guard let id = ids[text], let published = texts[id] else { return nil }
    return (id, published)
  }
}

/// Why a file is no manifest.
package struct ManifestError: Error, Sendable, CustomStringConvertible {
  package let reason: String
  package var description: String { "The manifest of trusted documents is malformed: \(reason)" }
}
