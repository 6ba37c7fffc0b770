import GraphQLResponse
import JSON

/// The documents that an operator published, by their IDs.
package struct TrustedDocuments: Sendable {
  /// The degree to which clients are bound to the published documents.
  package enum Level: String, Sendable, CaseIterable {
    /// Published documents may be requested by ID; all others may be executed.
    case off
    /// All documents are executed, and those that are not published are logged.
    case log
    /// Only published documents are executed.
    case allowList = "allow-list"
    /// Only published documents are executed, and only by ID.
    case idOnly = "id-only"
  }

  private var texts: [String: String] = [:]
  private var ids: [String: String] = [:]
  /// What errors do in those that say so.
  private var errorBehaviors: [String: ErrorBehavior] = [:]

  package var count: Int { texts.count }

  /// All documents, in the order of their IDs.
  package var documents: [(id: String, text: String)] {
    texts.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  package init() {}

  /// Parses `{"id": "document"}` (Relay, graphql-codegen) or Apollo's manifest (`{"format":
  /// "apollo-persisted-query-manifest", "operations": [{"id": …, "body": …}]}`). An operation of
  /// Apollo's, or `{"body": "document"}` in place of the document, may have `onError`.
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
        try add(id, body, onError: operation["onError"])
      }
      return
    }
    for member in members {
      guard case .string(let text) = member.value["body"] ?? member.value else {
        throw ManifestError(reason: "The document of \"\(member.name)\" is not a string.")
      }
      try add(member.name, text, onError: member.value["onError"])
    }
  }

  private mutating func add(
    _ id: String, _ text: String, onError: JSONValue?
  ) throws(ManifestError) {
    guard !id.isEmpty, !text.isEmpty else {
      throw ManifestError(reason: "Ids and documents must not be empty.")
    }
    if let known = texts[id], known != text {
      throw ManifestError(reason: "The ID \"\(id)\" is used for two documents.")
    }
    if let onError, onError != .null {
      guard case .string(let name) = onError, let behavior = ErrorBehavior(rawValue: name) else {
        throw ManifestError(
          reason: "The \"onError\" of \"\(id)\" is not PROPAGATE, NULL or HALT.")
      }
      errorBehaviors[id] = behavior
    }
    texts[id] = text
    ids[text] = id
  }

  /// Returns the document of an ID, which may have a prefix for the way it was made (`sha256:`).
  func text(id: String) -> String? {
    texts[plain(id)]
  }

  private func plain(_ id: String) -> String {
    texts[id] == nil && id.hasPrefix("sha256:") ? String(id.dropFirst(7)) : id
  }

  /// Returns what errors do in the response to a document, by its ID as `published` and requests
  /// have it; nil if it does not say.
  func onError(id: String) -> ErrorBehavior? {
    errorBehaviors.isEmpty ? nil : errorBehaviors[plain(id)]
  }

  /// Returns the published document that equals this one. Execute the returned text: strings are
  /// equal here if they differ only in the composition of their characters.
  func published(text: String) -> (id: String, text: String)? {
    guard let id = ids[text], let published = texts[id] else { return nil }
    return (id, published)
  }
}

/// The reason why a file is not a manifest.
package struct ManifestError: Error, Sendable, CustomStringConvertible {
  package let reason: String
  package var description: String { "The manifest of trusted documents is malformed: \(reason)" }
}
