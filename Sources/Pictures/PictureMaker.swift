import Cryptography
import Glibc
import Sandbox

/// The result of processing a client's picture.
package struct MadePicture: Sendable {
  package let name: PictureName
  package let bytes: [UInt8]
  package let size: PictureSize
}

/// The reason why bytes did not become a picture.
package enum PictureRefusal: Error, Sendable, Equatable {
  case unknownType
  case tooManyBytes(maximum: Int)
  case tooManyPixels(maximum: Int)
  /// An animated PNG, of which the decoder would keep one frame.
  case animated
  /// Damaged, truncated, or too expensive to decode.
  case unreadable(reason: String)
  /// A failure of the server itself.
  case unavailable(reason: String)
}

/// Re-encodes pictures that clients send. A separate program decodes their bytes, with limits of
/// memory and time, and may neither open a socket nor start another program. Only its output is
/// stored, which contains no location, no camera, and nothing hidden behind the pixels.
package struct PictureMaker: Sendable {
  package struct Settings: Sendable {
    /// The path of vipsthumbnail of libvips, or of its replacement in a test, with arguments before
    /// its own.
    package var program: [String] = PictureMaker.installedProgram.map { [$0] } ?? []
    package var maximumBytes = 20 << 20
    /// Phones have sensors of 48 and of 50 megapixels.
    package var maximumPixels = 50_000_000
    package var memoryBytes = 1 << 30
    package var time = Duration.seconds(30)

    package init() {}
  }

  package let settings: Settings

  package init(_ settings: Settings) { self.settings = settings }

  /// The path of vipsthumbnail; nil if it is not installed (`script/setup run`).
  package static var installedProgram: String? {
    ["/usr/bin/vipsthumbnail", "/usr/local/bin/vipsthumbnail"].first {
      unsafe access($0, X_OK) == 0
    }
  }

  package func make(_ bytes: [UInt8]) throws(PictureRefusal) -> MadePicture {
    guard bytes.count <= settings.maximumBytes else {
      throw .tooManyBytes(maximum: settings.maximumBytes)
    }
    guard let type = PictureType(bytes) else { throw .unknownType }
    guard let size = PictureSize(of: bytes, type) else {
      throw .unreadable(reason: "no size in its header")
    }
    guard size.pixels <= settings.maximumPixels else {
      throw .tooManyPixels(maximum: settings.maximumPixels)
    }
    let contents = try PictureContents(bytes, type)
    // The size is larger than any picture, and only ever made smaller.
    var fitting = ["--size", "100000x100000>"]
    if contents.mayHaveProfile, try hasProfile(contents.bytes) {
      fitting += ["--export-profile", "srgb"]
    }
    let output = try picture(
      contents.bytes, type, fitting, isWhole: true, isLossless: type.isLossless(bytes))
    guard let made = PictureSize(of: output, type) else {
      throw .unreadable(reason: "the decoder made no picture")
    }
    return MadePicture(name: PictureName(of: output, type), bytes: output, size: made)
  }

  /// Returns whether the decoder uses the profile of a picture: it drops one that is damaged, or is for
  /// another kind of picture. To a picture without a profile, libvips 8.14 must not export one: it
  /// takes the white of sRGB for that of the profile, and all colors change.
  private func hasProfile(_ bytes: [UInt8]) throws(PictureRefusal) -> Bool {
    guard settings.program.last == Self.installedProgram, let program = settings.program.last,
      let folder = program.lastIndex(of: "/")
    else { return true }
    let header = "\(program[...folder])vipsheader"
    switch start([header, "-f", "icc-profile-data", "stdin"], bytes) {
    case .ended(0, _): return true
    case .ended(127, _): throw .unavailable(reason: "\(header) cannot be run")
    case .ended, .outOfTime, .tooMuchOutput, .notStarted: return false
    }
  }

  /// Makes a form of a stored picture, which has no profile, of just the size it is to have: of an animation the first frame.
  package func make(
    _ form: PictureForm, of bytes: [UInt8], _ type: PictureType, size: PictureSize
  ) throws(PictureRefusal) -> [UInt8] {
    let wanted = form.size(of: size)
    let fitting =
      switch form.shape {
      case .whole: ["--size", "\(wanted.width)x\(wanted.height)!"]
      case .square: ["--size", "\(wanted.width)x\(wanted.height)", "--smartcrop", "centre"]
      }
    let output = try picture(
      bytes, type, fitting, isWhole: false, isLossless: type.isLossless(bytes))
    guard PictureSize(of: output, type) == wanted else {
      throw .unreadable(reason: "the decoder made another size")
    }
    return output
  }

  private func picture(
    _ bytes: [UInt8], _ type: PictureType, _ fitting: [String], isWhole: Bool, isLossless: Bool
  ) throws(PictureRefusal) -> [UInt8] {
    let output = try run(
      ["stdin\(Self.loading(type, isWhole))"] + fitting
        + [
          "--output", ".\(type.rawValue)\(Self.saving(type, isWhole, isLossless))",
        ],
      bytes)
    guard PictureType(output) == type else {
      throw .unreadable(reason: "the decoder made no picture")
    }
    guard type == .webp else { return output }
    guard let chunks = WebPChunks(output) else {
      throw .unreadable(reason: "the decoder made no picture")
    }
    return chunks.withoutMetadata
  }

  /// Returns the options for loading a type. Truncated or damaged pictures are refused, and
  /// animations keep all their frames.
  private static func loading(_ type: PictureType, _ isWhole: Bool) -> String {
    switch type {
    case .webp where isWhole, .gif where isWhole: "[fail_on=truncated,n=-1]"
    case .jpeg, .png, .webp, .gif: "[fail_on=truncated]"
    }
  }

  private static func saving(_ type: PictureType, _ isWhole: Bool, _ isLossless: Bool) -> String {
    switch type {
    case .jpeg: "[strip,Q=\(isWhole ? 90 : 82),optimize-coding]"
    case .png: "[strip]"
    case .webp: isLossless ? "[strip,profile=none,lossless]" : "[strip,profile=none,Q=85]"
    case .gif: "[strip]"
    }
  }

  private func run(_ arguments: [String], _ input: [UInt8]) throws(PictureRefusal) -> [UInt8] {
    guard !settings.program.isEmpty else {
      throw .unavailable(reason: "vipsthumbnail (package libvips-tools) is not installed")
    }
    switch start(settings.program + arguments, input) {
    case .ended(0, let output): return output
    case .ended(126, _): throw .unavailable(reason: "the decoder could not be confined")
    case .ended(127, _):
      throw .unavailable(reason: "\(settings.program[0]) cannot be run")
    case .ended(let status, _): throw .unreadable(reason: "the decoder ended with \(status)")
    case .outOfTime: throw .unreadable(reason: "the decoder took longer than \(settings.time)")
    case .tooMuchOutput: throw .unreadable(reason: "the decoder gave too many bytes")
    case .notStarted(let code):
      throw .unavailable(
        reason: unsafe "the decoder could not be started: \(String(cString: strerror(code)))")
    }
  }

  private func start(_ arguments: [String], _ input: [UInt8]) -> ChildProgram.Outcome {
    var limits = ChildProgram.Limits()
    limits.memoryBytes = settings.memoryBytes
    limits.time = settings.time
    limits.outputBytes = max(64 << 20, settings.maximumBytes * 4)
    return ChildProgram(
      arguments: arguments,
      environment: [
        "PATH=/usr/bin:/bin", "LANG=C.UTF-8", "HOME=/nonexistent",
        // Only decoders for untrusted images, one thread, and nothing on disk.
        "VIPS_BLOCK_UNTRUSTED=1", "VIPS_CONCURRENCY=1", "VIPS_DISC_THRESHOLD=100g",
      ], limits: limits
    ).run(input)
  }
}
