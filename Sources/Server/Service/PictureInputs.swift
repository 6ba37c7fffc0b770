import Accounts
import Foundation
import GraphQLExecution
import GraphQLResponse

/// Stores the pictures in the inputs of mutations (`@picture`), and leaves the other inputs to the
/// transformer of accounts. It belongs to one event loop.
final class PictureInputs: InputTransformer {
  private let accounts: LoopAccountInputs
  /// The store of pictures; nil if the server takes none.
  private let pictures: PictureEndpoint?

  init(_ accounts: LoopAccountInputs, _ pictures: PictureEndpoint?) {
    self.accounts = accounts
    self.pictures = pictures
  }

  func transform(
    _ tasks: [TransformTask], client: ClientIdentity,
    completion: @escaping (Result<[TransformedInput], TransformRefusal>) -> Void
  ) {
    accounts.transform(tasks, client: client) { [self] result in
      guard case .success(let prepared) = result else { return completion(result) }
      store(from: 0, of: tasks, prepared, client, completion)
    }
  }

  /// Stores the pictures among the tasks from this one on, one after the other.
  private func store(
    from first: Int, of tasks: [TransformTask], _ prepared: [TransformedInput],
    _ client: ClientIdentity,
    _ completion: @escaping (Result<[TransformedInput], TransformRefusal>) -> Void
  ) {
    for (index, task) in tasks.enumerated().dropFirst(first) {
      guard case .picture(let text?) = task, prepared.indices.contains(index) else { continue }
      func go(on json: String) {
        var prepared = prepared
        prepared[index] = .json(json)
        store(from: index + 1, of: tasks, prepared, client, completion)
      }
      guard let pictures, let bytes = Self.bytes(of: text) else {
        return go(on: PictureEndpoint.noPicture)
      }
      return pictures.describe(bytes, for: client) { result in
        switch result {
        case .success(let json): go(on: json)
        case .failure(let refusal): completion(.failure(refusal))
        }
      }
    }
    completion(.success(prepared))
  }

  /// Returns the bytes of base64, alone or as a `data:` URL; nil if it is none.
  private static func bytes(of text: String) -> [UInt8]? {
    let digits = text.hasPrefix("data:") ? text.split(separator: ",", maxSplits: 1).last : text[...]
    return digits.flatMap { Data(base64Encoded: String($0)) }.map { Array($0) }
  }
}
