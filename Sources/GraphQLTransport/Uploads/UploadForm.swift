import GraphQLResponse
import HTTP
import JSON

/// A GraphQL request with files, in the multipart form of GraphQL uploads: the part `operations` is the
/// request with null for each file, the part `map` says which file stands where, and a part for each
/// file follows (github.com/jaydenseric/graphql-multipart-request-spec).
package struct UploadForm: Sendable {
  private let body: [UInt8]
  private let files: [Range<Int>]
  package var count: Int { files.count }
  /// The members of the request.
  private let request: [JSONValue.Member]
  /// The places of each file in the request: `["variables", "input", "photoIds", "0"]`.
  private let places: [[[Substring]]]
  /// The size of the request without its files.
  let requestBytes: Int

  package static let maximumFiles = 10
  private static let maximumPlaces = 100

  init(
    _ body: [UInt8], contentType: String, maximumRequestBytes: Int, maximumNesting: Int
  ) throws(TransportError) {
    let parts = try MultipartForm(
      body, contentType: contentType, maximumParts: Self.maximumFiles + 2
    ).parts
    guard parts.count > 2, parts[0].name == "operations", parts[1].name == "map" else {
      throw .form("its parts must be \"operations\", \"map\" and the files, in this order")
    }
    guard parts[0].content.count <= maximumRequestBytes,
      parts[1].content.count <= maximumRequestBytes
    else { throw .form("\"operations\" and \"map\" may have \(maximumRequestBytes) bytes each") }
    let operations = try TransportError.parse(
      Array(body[parts[0].content]), parameter: "operations", maximumNesting: maximumNesting)
    guard case .object(let request) = operations else {
      throw .parameter("operations", expected: "an object")
    }
    let map = try TransportError.parse(
      Array(body[parts[1].content]), parameter: "map", maximumNesting: 3)
    guard case .object(let entries) = map else { throw .parameter("map", expected: "an object") }
    guard Set(entries.map(\.name)) == Set(parts[2...].map(\.name)), entries.count == parts.count - 2
    else { throw .form("\"map\" must name each file once") }
    var places: [[[Substring]]] = []
    for part in parts[2...] {
      guard case .array(let paths)? = entries.first(where: { $0.name == part.name })?.value,
        !paths.isEmpty, paths.count <= Self.maximumPlaces
      else { throw .parameter("map", expected: "lists of paths") }
      var own: [[Substring]] = []
      for path in paths {
        guard case .string(let text) = path, text.hasPrefix("variables.") else {
          throw .parameter("map", expected: "paths such as \"variables.input.photoIds.0\"")
        }
        own.append(text.split(separator: ".", omittingEmptySubsequences: false))
      }
      places.append(own)
    }
    self.request = request
    self.places = places
    requestBytes = parts[0].content.count
    self.body = body
    files = parts[2...].map(\.content)
    // Before anything is done with the files.
    _ = try members(with: files.map { _ in "" })
  }

  /// Returns a copy of the bytes of a file.
  package func file(at place: Int) -> [UInt8] {
    files.indices.contains(place) ? Array(body[files[place]]) : []
  }

  /// Returns the members of the request with a text in each place of a file.
  func members(with texts: [String]) throws(TransportError) -> [JSONValue.Member] {
    var value = JSONValue.object(request)
    for (text, places) in zip(texts, places) {
      for place in places {
        guard let next = Self.value(value, with: text, at: place[...]) else {
          throw .form("\"\(place.joined(separator: "."))\" is not null in \"operations\"")
        }
        value = next
      }
    }
    guard case .object(let members) = value else { return request }
    return members
  }

  /// Returns a value with a text in place of null; nil if there is no null. The parser's limit bounds
  /// the recursion.
  private static func value(
    _ value: JSONValue, with text: String, at place: ArraySlice<Substring>
  ) -> JSONValue? {
    guard let name = place.first else { return value == .null ? .string(text) : nil }
    switch value {
    case .object(var members):
      guard let index = members.firstIndex(where: { $0.name == name }),
        let inner = Self.value(members[index].value, with: text, at: place.dropFirst())
      else { return nil }
      members[index] = JSONValue.Member(name: members[index].name, value: inner)
      return .object(members)
    case .array(var elements):
      guard let index = Int(name), elements.indices.contains(index),
        let inner = Self.value(elements[index], with: text, at: place.dropFirst())
      else { return nil }
      elements[index] = inner
      return .array(elements)
    case .null, .boolean, .number, .string: return nil
    }
  }
}

extension GraphQLEndpoint {
  /// Reads the form of a request with files.
  package func form(
    in request: HTTPRequest, _ head: Head, as identity: RequestIdentity
  ) -> Result<UploadForm, RefusedForm> {
    do throws(TransportError) {
      if let refusal = head.refusal { throw refusal }
      let form = try UploadForm(
        request.body, contentType: request.headerList("content-type") ?? "",
        maximumRequestBytes: configuration.maximumVariablesBytes,
        maximumNesting: configuration.maximumNesting)
      return .success(form)
    } catch {
      return .failure(RefusedForm(answer: refuse(error, head, identity)))
    }
  }

  /// Receives the request of a form.
  ///
  /// - Parameter texts: what stands for each file.
  package func receive(
    _ form: UploadForm, with texts: [String], _ head: Head, as identity: RequestIdentity
  ) -> Reception {
    do throws(TransportError) {
      let members = try form.members(with: texts)
      var found = try readRequest(
        RequestParameters(members), identity, bodyBytes: form.requestBytes)
      found.idempotencyKey = try head.idempotencyKey.get()
      return .request(found, head.format)
    } catch {
      return .answer(refuse(error, head, identity))
    }
  }

  package struct RefusedForm: Error {
    package let answer: GraphQLAnswer
  }
}
