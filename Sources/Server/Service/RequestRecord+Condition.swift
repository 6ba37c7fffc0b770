import GraphQLExecution
import GraphQLResponse
import GraphQLTransport

extension RequestRecord {
  /// Tags a response, and compresses it, or removes its body if the client has it.
  ///
  /// - Parameter extensionsStart: the place in the response where its extensions begin, if it has
  ///   any. The balance of points in them differs each time, and is not part of the tag.
  func encode(
    _ answer: inout GraphQLAnswer, _ response: OperationResponse, extensionsStart: Int?,
    unless condition: ResponseCondition
  ) {
    guard let tag = tag(of: response, extensionsStart: extensionsStart) else {
      encoding?.encode(&answer, of: label)
      return
    }
    var isWeak = extensionsStart != nil
    if condition.matches(tag) {
      answer.becomeNotModified()
    } else {
      let plain = answer.body.count
      encoding?.encode(&answer, of: label)
      isWeak = isWeak || answer.body.count != plain
    }
    answer.add(tag: tag, isWeak: isWeak)
  }

  /// Returns the tag of a response; nil for one with errors or secrets.
  private func tag(of response: OperationResponse, extensionsStart: Int?) -> String? {
    guard label?.isConfidential == false, case .executed(let body, let errors, _) = response,
      errors.isEmpty
    else { return nil }
    guard let extensionsStart else { return ResponseCondition.tag(of: body) }
    return ResponseCondition.tag(of: Array(body.prefix(extensionsStart)))
  }
}
