import Compression
import Dispatch
import Synchronization

/// The compressed bodies of a page that never changes. Each is made once, on another thread, when it
/// is asked for the first time; until then the page is sent as it is.
final class CodedBodies: Sendable {
  private enum State {
    case inProgress
    /// Nil if compressing it does not help.
    case done([UInt8]?)
  }

  private let body: [UInt8]
  private let states = Mutex<[ContentCoding: State]>([:])

  init(of body: [UInt8]) { self.body = body }

  /// Returns the coded body; nil if the page is to be sent as it is.
  func body(in coding: ContentCoding) -> [UInt8]? {
    guard body.count >= AnswerCompressor.leastBytes else { return nil }
    let (coded, isNew) = states.withLock { states -> ([UInt8]?, Bool) in
      switch states[coding] {
      case .done(let coded): return (coded, false)
      case .inProgress: return (nil, false)
      case nil:
        states[coding] = .inProgress
        return (nil, true)
      }
    }
    if isNew {
      DispatchQueue.global(qos: .utility).async { [self] in
        let coded = ContentEncoder(coding, for: .file)?.add(body, isLast: true)
        let isSmaller = coded.map { $0.count < body.count } ?? false
        states.withLock { $0[coding] = .done(isSmaller ? coded : nil) }
      }
    }
    return coded
  }
}
