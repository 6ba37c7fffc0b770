import Sandbox

/// The decision about a picture before staff have reviewed it.
package enum PictureVerdict: String, Sendable, CaseIterable {
  case pending = "PENDING"
  case approved = "APPROVED"
  case rejected = "REJECTED"
}

/// Runs the operator's command for each new picture: it reads the bytes and writes a verdict. If it
/// fails, the picture waits for staff.
package struct PictureModeration: Sendable {
  /// The command for the shell; nil approves everything.
  package let command: String?
  package let time: Duration
  private let environment: [String: String]

  /// - Parameter environment: the environment of the command.
  package init(
    command: String? = nil, time: Duration = .seconds(10), environment: [String: String] = [:]
  ) {
    self.command = command
    self.time = time
    self.environment = environment
  }

  /// Returns the verdict, and the reason why it is not the command's own.
  package func verdict(
    on picture: MadePicture, owner: Int64
  ) -> (PictureVerdict, fault: String?) {
    guard let command else { return (.approved, nil) }
    var limits = ChildProgram.Limits()
    limits.time = time
    limits.outputBytes = 4096
    limits.isConfined = false
    var environment = environment
    environment["SOCIOGRAPH_PHOTO_TYPE"] = picture.name.type.contentType
    environment["SOCIOGRAPH_PHOTO_NAME"] = "\(picture.name)"
    environment["SOCIOGRAPH_PHOTO_OWNER"] = "\(owner)"
    let program = ChildProgram(
      arguments: ["/bin/sh", "-c", command],
      environment: environment.map { "\($0)=\($1)" }, limits: limits)
    switch program.run(picture.bytes) {
    case .ended(0, let output):
      let word = String(decoding: output, as: UTF8.self).filter { !$0.isWhitespace }.uppercased()
      guard let verdict = PictureVerdict(rawValue: word) else {
        return (.pending, "it did not print PENDING, APPROVED or REJECTED")
      }
      return (verdict, nil)
    case .ended(let status, _): return (.pending, "it ended with \(status)")
    case .outOfTime: return (.pending, "it took longer than \(time)")
    case .tooMuchOutput: return (.pending, "it printed too much")
    case .notStarted(let code): return (.pending, "it could not be started (error \(code))")
    }
  }
}
