import GraphQLExecution
import GraphQLResponse
import GraphQLTransport

extension RequestRecord {
  /// Tags a response, and compresses it, or removes its body if the client has it.
  ///
  /// - Parameter extensionsStart: the place in the response where its extensions begin, if it has
  ///   any. The balance of points in them differs each time, and is not part of the tag.
  func encode(
    _ answer: inout GraphQLAnswer, _ response: OperationResponse, _ type: ResponseFormat.MediaType,
    extensionsStart: Int?, unless condition: ResponseCondition
  ) {
    guard let plain = tag(of: response, type, extensionsStart: extensionsStart) else {
      encoding?.encode(&answer, of: label)
      return
    }
    let coded = encoding.map { plain.coded($0.coding.rawValue) }
    // What the client has is what it gets: whether a response is coded depends on the load.
    if let known = [plain, coded].lazy.compactMap({ $0 }).first(where: { condition.matches($0) }) {
      answer.becomeNotModified()
      answer.add(known)
    } else {
      let isCoded = encoding?.encode(&answer, of: label) ?? false
      answer.add(isCoded ? coded ?? plain : plain)
    }
  }

  /// Returns the tag of a response; nil for one with errors or secrets.
  private func tag(
    of response: OperationResponse, _ type: ResponseFormat.MediaType, extensionsStart: Int?
  ) -> ResponseTag? {
    guard label?.isConfidential == false, case .executed(let body, let errors, _) = response,
      errors.isEmpty
    else { return nil }
    guard let extensionsStart else { return ResponseTag(of: body, as: type, isWhole: true) }
    return ResponseTag(of: body.prefix(extensionsStart), as: type, isWhole: false)
  }
}
