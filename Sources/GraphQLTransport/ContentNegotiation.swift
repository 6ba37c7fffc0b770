/// Chooses the media type of the response, and checks that of the body.
enum ContentNegotiation {
  /// Returns the media type that the client accepts, or nil for 406.
  ///
  /// The better quality wins, then a named type over one that a wildcard covers; of two named
  /// alike, the newer. Streams (`multipart/mixed`, `text/event-stream`) do not count: clients list
  /// them first also for operations that are answered at once. Without `Accept`, or with wildcards
  /// alone, the client is assumed to know plain JSON only.
  static func mediaType(accept: String?) -> ResponseFormat.MediaType? {
    switch accept {
    case nil, "", "application/json", "*/*": return .json
    case "application/graphql-response+json", "application/graphql-response+json, application/json",
      "application/graphql-response+json,application/json":
      return .graphQLResponse
    case .some(let accept):
      let ranges = MediaRange.split(accept[...], at: ",").compactMap(MediaRange.init)
      let json = Preference("application/json", ranges)
      let response = Preference("application/graphql-response+json", ranges)
      if response.quality == 0 { return json.quality > 0 ? .json : nil }
      if response.quality != json.quality {
        return response.quality > json.quality ? .graphQLResponse : .json
      }
      return response.isNamed ? .graphQLResponse : .json
    }
  }

  /// The quality of a type by the most specific range that covers it.
  private struct Preference {
    var quality = 0
    var isNamed = false

    init(_ type: String, _ ranges: [MediaRange]) {
      var specificity = 0
      for range in ranges where range.isUTF8 {
        let rank =
          switch range.type {
          case type: 3
          case "application/*": 2
          case "*/*": 1
          default: 0
          }
        if rank > specificity || (rank > 0 && rank == specificity && range.quality > quality) {
          specificity = rank
          quality = range.quality
          isNamed = rank == 3
        }
      }
    }
  }

  /// Checks that a body of this type is JSON in UTF-8.
  static func checkBody(contentType: String?) throws(TransportError) {
    switch contentType {
    case nil, "": throw .contentType
    case "application/json", "application/json; charset=utf-8": return
    case .some(let contentType):
      guard let range = MediaRange(contentType[...]), range.type == "application/json" else {
        throw .contentType
      }
      guard range.isUTF8 else { throw .charset }
    }
  }
}
