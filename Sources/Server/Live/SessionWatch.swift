import Accounts
import EventLoops

/// Sees to it that what a session began ends with it: a socket, or a stream. The session is looked at when something is
/// told of its user's sessions (`LiveHub`), and when its time is over.
final class SessionWatch {
  private let token: SessionToken
  private let viewer: Int64
  private let pipeline: RequestPipeline
  /// What is to be done when the session is over; nil before the start, and once it is done or not wanted any more.
  private var onEnd: (() -> Void)?
  private var timer: LoopTimer?

  init(_ token: SessionToken, of viewer: Int64, _ pipeline: RequestPipeline) {
    self.token = token
    self.viewer = viewer
    self.pipeline = pipeline
  }

  func start(onEnd: @escaping () -> Void) {
    self.onEnd = onEnd
    pipeline.hub.add(self, of: viewer)
    awaitEnd()
  }

  func stop() {
    guard onEnd != nil else { return }
    onEnd = nil
    timer = nil
    pipeline.hub.remove(self, of: viewer)
  }

  private func awaitEnd() {
    pipeline.remaining(of: token) { [weak self] remaining in
      // What others sign tells its end only to who looks.
      self?.look(after: max(.milliseconds(10), min(remaining ?? .seconds(60), .seconds(3600))))
    }
  }

  private func look(after pause: Duration) {
    guard onEnd != nil else { return }
    timer = pipeline.timer(after: pause) { [weak self] in self?.look() }
  }

  /// The session may be over.
  func look() {
    guard onEnd != nil else { return }
    pipeline.resolveAnew(token) { [weak self] resolution in
      guard let self, let onEnd = self.onEnd else { return }
      switch resolution {
      case .viewer(self.viewer): self.awaitEnd()
      case .viewer, .unknown:
        self.stop()
        onEnd()
      case .failed: self.look(after: .seconds(1))
      }
    }
  }
}
