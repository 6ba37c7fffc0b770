import Cryptography

// Untrusted images: identified by their bytes, decoded in a sandbox, and stored under their hash.
// Nothing here knows HTTP or the purpose of the images.
//
// `PictureService` is the interface of the module. It has two queues, so that no event loop waits
// for an image or a file. `PictureMaker` re-encodes an image with `ChildProgram`, and
// `PictureStore` stores it.

/// Stores and reads pictures for all loops, on dedicated threads.
package final class PictureService: Sendable {
  package struct Settings: Sendable {
    package var maker = PictureMaker.Settings()
    package var moderation = PictureModeration()
    /// The limits of pictures being processed or waiting.
    package var making: WorkQueue.Limits
    /// The limits of files being read.
    package var reading: WorkQueue.Limits

    /// The maximum time to process a picture, including waiting.
    package var patience: Duration { making.maximumWait + maker.time * 2 + moderation.time }

    package init() {
      making = WorkQueue.Limits()
      making.concurrency = 2
      // A client whose pictures take long leaves a decoder to others.
      making.maximumRunningOfClient = 1
      making.niceness = 5
      making.maximumWaiting = 32
      making.maximumWait = .seconds(20)
      reading = WorkQueue.Limits()
      reading.concurrency = 8
      reading.maximumWaiting = 1_000
      reading.maximumWait = .seconds(10)
    }
  }

  package struct Kept: Sendable {
    package let name: PictureName
    package let size: PictureSize
    package let byteCount: Int
    package let verdict: PictureVerdict
    /// The reason why the verdict is not that of the operator's command.
    package let moderationFault: String?
  }

  /// The content read from a picture.
  package struct Content: Sendable {
    package let size: Int
    /// The bytes; nil if only the size was requested, or `range` is outside of the picture.
    package let bytes: [UInt8]?
  }

  package let settings: Settings
  package let store: any PictureStore
  private let maker: PictureMaker
  private let making: WorkQueue
  private let reading: WorkQueue

  package init(_ settings: Settings, store: any PictureStore) {
    self.settings = settings
    self.store = store
    maker = PictureMaker(settings.maker)
    making = WorkQueue(label: "pictures", limits: settings.making)
    reading = WorkQueue(label: "files", limits: settings.reading)
  }

  /// Processes and stores a picture, and passes the result to `completion` on any thread; nil if
  /// too many others wait.
  ///
  /// - Parameter client: whose share of the decoders it takes.
  package func take(
    _ bytes: [UInt8], owner: Int64, for client: WorkShare,
    completion: @escaping @Sendable (Result<Kept, PictureRefusal>?) -> Void
  ) {
    making.run(for: client) { [self] in
      do throws(PictureRefusal) {
        return .success(try take(bytes, owner: owner))
      } catch {
        return .failure(error)
      }
    } completion: {
      completion($0)
    }
  }

  private func take(_ bytes: [UInt8], owner: Int64) throws(PictureRefusal) -> Kept {
    let made = try maker.make(bytes)
    let (verdict, fault) = settings.moderation.verdict(on: made, owner: owner)
    do throws(PictureStoreError) {
      try store.keep(made.bytes, as: made.name)
    } catch {
      throw .unavailable(reason: "\(error)")
    }
    return Kept(
      name: made.name, size: made.size, byteCount: made.bytes.count, verdict: verdict,
      moderationFault: fault)
  }

  /// Reads a picture, or part of it, and passes it to `completion` on any thread: nil if too many
  /// others wait, a success of nil if there is no such picture. A form of a picture that nobody has
  /// read before is made first.
  ///
  /// - Parameters:
  ///   - client: whose share of the decoders it takes.
  ///   - range: returns the range of bytes for a size; nil for no bytes.
  package func read(
    _ name: PictureName, for client: WorkShare,
    range: @escaping @Sendable (Int) -> Range<Int>?,
    completion: @escaping @Sendable (Result<Content?, PictureStoreError>?) -> Void
  ) {
    readStored(name, range: range) { [self] result in
      guard case .success(nil)? = result, let form = name.form else { return completion(result) }
      making.run(for: client) { [self] in
        do throws(PictureStoreError) {
          return Result<Bool, PictureStoreError>.success(try make(form, of: name.whole))
        } catch {
          return .failure(error)
        }
      } completion: { [self] made in
        switch made {
        case nil: completion(nil)
        case .failure(let error): completion(.failure(error))
        case .success(false): completion(.success(nil))
        case .success(true): readStored(name, range: range, completion: completion)
        }
      }
    }
  }

  /// Makes and stores a form of a picture.
  ///
  /// - Returns: whether there is such a picture, and such a form of it.
  private func make(_ form: PictureForm, of name: PictureName) throws(PictureStoreError) -> Bool {
    guard let count = try store.size(of: name),
      let bytes = try store.bytes(of: name, in: 0..<count),
      let size = PictureSize(of: bytes, name.type), PictureForm.all(of: size).contains(form)
    else { return false }
    let made: [UInt8]
    do throws(PictureRefusal) {
      made = try maker.make(form, of: bytes, name.type, size: size)
    } catch {
      throw PictureStoreError("\(name.form(form)) cannot be made: \(error)")
    }
    try store.keep(made, as: name.form(form))
    return true
  }

  private func readStored(
    _ name: PictureName,
    range: @escaping @Sendable (Int) -> Range<Int>?,
    completion: @escaping @Sendable (Result<Content?, PictureStoreError>?) -> Void
  ) {
    reading.run { [store] in
      do throws(PictureStoreError) {
        guard let size = try store.size(of: name) else { return .success(nil) }
        guard let range = range(size) else { return .success(Content(size: size, bytes: nil)) }
        guard let bytes = try store.bytes(of: name, in: range) else { return .success(nil) }
        return .success(Content(size: size, bytes: bytes))
      } catch {
        return .failure(error)
      }
    } completion: {
      completion($0)
    }
  }
}
