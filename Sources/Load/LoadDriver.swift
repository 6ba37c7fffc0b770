import EventLoops
import Foundation
import GraphQLLanguage
import HTTP
import JSON
import Synchronization

/// Sends requests at their times, whatever the server does, and measures their outcomes.
///
/// An open model: an arrival is taken up at its time even if none before it has been answered. It
/// waits in a queue if all connections are taken, and its latency counts from its intended start.
package final class LoadDriver: @unchecked Sendable {
  // @unchecked: everything below `state of a window` is touched on the loop only.

  package struct Settings: Sendable {
    package var maximumConnections = 128
    /// From the intended start, in nanoseconds.
    package var timeout: Int64 = 30_000_000_000

    package init() {}
  }

  /// The state of a run while it lasts.
  package struct Progress: Sendable {
    package var offered = 0
    package var ok = 0
    package var errors = 0
    package var inFlight = 0
    /// The latencies since the last progress, ascending.
    package var recent: [Int64] = []
    package var lag: Int64 = 0
  }

  /// The fate of a mutation.
  package struct LedgerEntry: Sendable {
    package enum Fate: String, Sendable { case acknowledged, refused, unknown }
    package let key: String
    package let operation: String
    package let fate: Fate
    package let attempts: Int
    package let isReplayed: Bool
  }

  private let loop: EventLoop
  private let timer: PreciseTimer
  private let endpoint: HTTPClientEndpoint
  private let writer: RequestWriter
  private let settings: Settings
  private let onLedger: (@Sendable (LedgerEntry) -> Void)?

  // The state of a window.
  private var schedule = Schedule(rate: 1, arrivals: .even, warmUp: 0, duration: 0, seed: 0)
  private var start = Moment(nanoseconds: 0)
  private var next = 0
  private var samples: [Sample] = []
  private var firstUnfinished = 0
  private var inFlight = 0
  private var queue: [Int] = []
  private var queueHead = 0
  private var idle: [LoadConnection] = []
  private var connections: [ObjectIdentifier: LoadConnection] = [:]
  private var connectingCount = 0
  private var result = WindowResult()
  private var codes: [String: Int] = [:]
  private var completion: ((WindowResult) -> Void)?
  private var endMoment: Int64?
  private var isInterrupted = false
  private var progress = Progress()
  private var marks = 0
  private var firstMark = 0
  private var processorTime = 0.0
  private var processorStart: Int64?
  private var timerToken: EventLoop.Token?
  /// The buffer that all connections read into.
  var readBuffer = [UInt8](repeating: 0, count: 64 * 1024)
  private var patience: LoopTimer?
  private var retries: [LoopTimer] = []
  private var subscriptions: LoadSubscriptions?
  /// When to wait for events no longer, after the last answer; nil before.
  private var deliveryEnd: Int64?
  private var deliveryTimer: LoopTimer?

  package init(
    endpoint: HTTPClientEndpoint, writer: RequestWriter, settings: Settings,
    onLedger: (@Sendable (LedgerEntry) -> Void)? = nil
  ) throws {
    loop = try EventLoop(label: "sociograph.load")
    timer = try PreciseTimer()
    self.endpoint = endpoint
    self.writer = writer
    self.settings = settings
    self.onLedger = onLedger
    samples.reserveCapacity(1 << 16)
  }

  deinit { loop.stop() }

  // MARK: - From other threads

  /// Sends the requests of a schedule and waits until each has ended.
  ///
  /// - Parameter onProgress: called each second.
  package func run(_ schedule: Schedule, onProgress: (Progress) -> Void = { _ in }) -> WindowResult
  {
    let ended = DispatchSemaphore(value: 0)
    let found = Mutex(WindowResult())
    loop.execute { [self] in
      begin(schedule) { result in
        found.withLock { $0 = result }
        ended.signal()
      }
    }
    while ended.wait(timeout: .now() + 1) == .timedOut { onProgress(takeProgress()) }
    return found.withLock { $0 }
  }

  /// Opens the subscriptions of the mix and waits until the server has them.
  ///
  /// - Returns: the reason if one of them cannot be opened.
  package func subscribe(to target: HTTPTarget) -> String? {
    guard !writer.subscriptions.isEmpty else { return nil }
    let opened = DispatchSemaphore(value: 0)
    let found = Mutex<String?>(nil)
    loop.execute { [self] in
      let subscriptions = LoadSubscriptions(on: loop, endpoint, target, writer)
      self.subscriptions = subscriptions
      subscriptions.open(timeout: settings.timeout) { reason in
        found.withLock { $0 = reason }
        opened.signal()
      }
      if isInterrupted { subscriptions.giveUp() }
    }
    opened.wait()
    return found.withLock { $0 }
  }

  /// Lets nothing more arrive, and gives up what has not been answered in two seconds.
  package func interrupt() {
    loop.execute { [self] in
      guard !isInterrupted else { return }
      isInterrupted = true
      subscriptions?.giveUp()
      guard completion != nil else { return }
      endArrivals()
      patience = loop.schedule(after: .seconds(2)) { [self] in abandon() }
      settle()
    }
  }

  /// Ends all connections, from any thread.
  package func close() {
    let ended = DispatchSemaphore(value: 0)
    loop.execute { [self] in
      for connection in connections.values { connection.close() }
      connections = [:]
      idle = []
      subscriptions?.close()
      subscriptions = nil
      if let timerToken { loop.unregister(timerToken) }
      timerToken = nil
      ended.signal()
    }
    ended.wait()
    loop.stop()
  }

  private func takeProgress() -> Progress {
    let taken = DispatchSemaphore(value: 0)
    let found = Mutex(Progress())
    loop.execute { [self] in
      var progress = self.progress
      progress.inFlight = inFlight
      progress.recent.sort()
      found.withLock { $0 = progress }
      self.progress.recent.removeAll(keepingCapacity: true)
      self.progress.lag = 0
      taken.signal()
    }
    taken.wait()
    return found.withLock { $0 }
  }

  // MARK: - A window

  private func begin(_ schedule: Schedule, _ completion: @escaping (WindowResult) -> Void) {
    if timerToken == nil {
      timerToken = try? loop.register(timer.descriptor, for: .readable) { [self] _ in tick() }
    }
    self.schedule = schedule
    self.completion = completion
    samples.removeAll(keepingCapacity: true)
    samples.reserveCapacity(schedule.arrivals.count)
    (next, firstUnfinished, inFlight, queueHead) = (0, 0, 0, 0)
    queue.removeAll(keepingCapacity: true)
    result = WindowResult()
    result.splits = (0..<writer.operationCount).map { _ in SplitSums() }
    codes = [:]
    progress = Progress()
    firstMark = marks
    marks += schedule.arrivals.count
    processorStart = nil
    processorTime = 0
    endMoment = nil
    // A little later than now, so that the first arrival is not late already.
    start = Moment.now.advanced(byNanoseconds: 5_000_000 - (schedule.arrivals.first ?? 0))
    (deliveryEnd, deliveryTimer) = (nil, nil)
    subscriptions?.begin(at: start, marks: firstMark..<marks)
    if isInterrupted { endArrivals() }
    tick()
  }

  private func offset(_ moment: Moment) -> Int64 { start.nanoseconds(to: moment) }

  /// Takes up what is due, ends what has waited too long, and sets the timer for what comes next.
  private func tick() {
    guard completion != nil else { return timer.set(nil) }
    var taken = 0
    while next < schedule.arrivals.count, taken < 64 {
      let now = Moment.now
      guard schedule.arrivals[next] <= offset(now) else { break }
      takeUp(next, now)
      next += 1
      taken += 1
    }
    expire(offset(Moment.now))
    endIfDone()
    arm()
  }

  private func arm() {
    guard completion != nil else { return timer.set(nil) }
    var due = next < schedule.arrivals.count ? schedule.arrivals[next] : Int64.max
    if next == schedule.arrivals.count, inFlight == 0 {
      due = deliveryEnd == nil ? schedule.duration : .max
    }
    if firstUnfinished < samples.count {
      due = min(due, samples[firstUnfinished].intended + settings.timeout)
    }
    timer.set(due == .max ? nil : start.advanced(byNanoseconds: due))
  }

  private func takeUp(_ index: Int, _ now: Moment) {
    let intended = schedule.arrivals[index]
    if intended >= 0, processorStart == nil {
      processorStart = offset(now)
      processorTime = Self.processorSeconds()
    }
    let operation = writer.operationIndex(
      seed: schedule.seed, number: schedule.number(of: index))
    let sample = Sample(
      operation: Int32(operation), intended: intended, takenUp: offset(now))
    samples.append(sample)
    inFlight += 1
    progress.offered += 1
    progress.lag = max(progress.lag, sample.lag)
    if let connection = idle.popLast() {
      send(index, on: connection)
    } else {
      queue.append(index)
      openConnections()
    }
  }

  /// Ends the requests whose time limit has passed. They end in the order of their arrival.
  private func expire(_ now: Int64) {
    while firstUnfinished < samples.count {
      let sample = samples[firstUnfinished]
      if !sample.isFinished {
        guard sample.intended + settings.timeout <= now else { return }
        let index = firstUnfinished
        finish(index, .timeout, at: sample.intended + settings.timeout)
        if let connection = connections.values.first(where: { $0.request == index }) {
          drop(connection)
        }
      }
      firstUnfinished += 1
    }
  }

  private func endArrivals() {
    let now = offset(Moment.now)
    next = schedule.arrivals.count
    endMoment = min(max(now, 0), schedule.duration)
    result.isComplete = false
  }

  /// Gives up all that has not been answered.
  private func abandon() {
    guard completion != nil else { return }
    let now = offset(Moment.now)
    for index in samples.indices where !samples[index].isFinished {
      finish(index, .transport, at: now)
    }
    for connection in Array(connections.values) where connection.request != nil {
      drop(connection)
    }
    settle()
  }

  /// Ends the window if nothing is left to wait for but its end.
  private func settle() {
    guard completion != nil, next == schedule.arrivals.count, inFlight == 0 else { return }
    endIfDone()
    arm()
  }

  private func endIfDone() {
    guard next == schedule.arrivals.count, inFlight == 0, let completion else { return }
    // A window lasts until its end even if the last arrival was before.
    guard endMoment != nil || offset(Moment.now) >= schedule.duration else { return }
    guard isDelivered() else { return }
    self.completion = nil
    patience = nil
    deliveryTimer = nil
    retries = []
    result.duration = endMoment ?? schedule.duration
    let warmUp = samples.firstIndex { $0.intended >= 0 } ?? samples.count
    result.samples = Array(samples[warmUp...])
    result.codes = codes.sorted { $0.value < $1.value }.map(\.key)
    result.deliveries = subscriptions?.figures(samples) ?? []
    if let processorStart {
      let seconds = Double(max(offset(Moment.now) - processorStart, 1)) / 1e9
      result.generatorCores = (Self.processorSeconds() - processorTime) / seconds
    }
    timer.set(nil)
    completion(result)
  }

  /// The time that events may take after the last answer, in nanoseconds.
  private static let deliveryPatience: Int64 = 5_000_000_000

  /// Returns whether the events of all acknowledged mutations are there, or late enough to be missed.
  private func isDelivered() -> Bool {
    guard let subscriptions, !isInterrupted else { return true }
    let now = offset(Moment.now)
    let end = deliveryEnd ?? now + min(Self.deliveryPatience, settings.timeout)
    deliveryEnd = end
    if now >= end || subscriptions.missing(samples) == 0 { return true }
    deliveryTimer = loop.schedule(after: .milliseconds(20)) { [weak self] in self?.endIfDone() }
    return false
  }

  private static func processorSeconds() -> Double {
    var usage = rusage()
    guard unsafe getrusage(Int32(RUSAGE_SELF.rawValue), &usage) == 0 else { return 0 }
    func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
    return seconds(usage.ru_utime) + seconds(usage.ru_stime)
  }

  // MARK: - Connections

  /// Opens connections for requests that wait, up to the limit.
  private func openConnections() {
    while connectingCount < queue.count - queueHead,
      connections.count < settings.maximumConnections
    {
      do {
        let socket = try endpoint.open()
        let connection = LoadConnection(socket, on: loop, driver: self)
        connections[ObjectIdentifier(connection)] = connection
        connectingCount += 1
        try connection.begin()
      } catch {
        // As if the connection had been refused: the request that wanted it fails.
        guard let index = popQueue() else { return }
        finish(index, .transport, at: offset(Moment.now))
      }
    }
  }

  /// Takes a connection that can send its first request, or the next one.
  func ready(_ connection: LoadConnection, isNew: Bool) {
    if isNew { connectingCount -= 1 }
    if let index = popQueue() {
      send(index, on: connection)
    } else {
      idle.append(connection)
    }
  }

  private func popQueue() -> Int? {
    while queueHead < queue.count {
      let index = queue[queueHead]
      queueHead += 1
      if queueHead > 4096, queueHead * 2 > queue.count {
        queue.removeFirst(queueHead)
        queueHead = 0
      }
      if !samples[index].isFinished { return index }
    }
    return nil
  }

  /// Takes a connection that could not be opened.
  func refused(_ connection: LoadConnection) {
    connectingCount -= 1
    let index = popQueue()
    drop(connection)
    if let index { lost(index) }
    settle()
  }

  private func drop(_ connection: LoadConnection) {
    connection.close()
    connections[ObjectIdentifier(connection)] = nil
    if let place = idle.firstIndex(where: { $0 === connection }) { idle.remove(at: place) }
    openConnections()
  }

  private func mark(of index: Int) -> Int { firstMark + index }

  private func send(_ index: Int, on connection: LoadConnection) {
    let bytes = writer.request(
      seed: schedule.seed, number: schedule.number(of: index), mark: mark(of: index))
    let now = Moment.now
    // A mutation that is sent again was first given to the kernel before.
    if samples[index].sent == 0 { samples[index].sent = offset(now) }
    connection.send(bytes, for: index)
  }

  func receivedFirstByte(_ index: Int, _ moment: Moment) {
    guard index < samples.count else { return }
    if samples[index].firstByte == 0 { samples[index].firstByte = offset(moment) }
  }

  /// Takes a complete response.
  func answered(
    _ index: Int, _ answer: Answer, receivedBytes: Int, isKept: Bool,
    on connection: LoadConnection, at moment: Moment
  ) {
    if !samples[index].isFinished {
      samples[index].receivedBytes = Int32(clamping: receivedBytes)
      if isMutation(index), answer.status == 409, samples[index].attempts < 4,
        let delay = answer.retryAfter
      {
        sendAgain(index, after: delay)
      } else {
        take(answer, of: index, at: moment)
      }
    }
    if isKept {
      ready(connection, isNew: false)
    } else {
      drop(connection)
    }
    settle()
  }

  private func take(_ answer: Answer, of index: Int, at moment: Moment) {
    if let code = answer.code {
      let place = codes[code] ?? codes.count
      codes[code] = place
      samples[index].code = Int16(clamping: place)
    }
    if answer.outcome == .throttled, samples[index].intended >= 0, let delay = answer.retryAfter {
      let known = result.retryAfter ?? delay...delay
      result.retryAfter = min(known.lowerBound, delay)...max(known.upperBound, delay)
    }
    finish(index, answer.outcome, at: offset(moment), isReplayed: answer.isReplayed)
    if answer.outcome == .ok, samples[index].intended >= 0, let timing = answer.timing,
      let total = timing.total
    {
      addTiming(samples[index], total, timing)
    }
  }

  private func addTiming(_ sample: Sample, _ total: Double, _ timing: ServerTiming) {
    var parts: [(index: Int, value: Double)] = []
    for (name, value) in timing.parts {
      if let known = result.partNames.firstIndex(where: { $0.utf8.elementsEqual(name) }) {
        parts.append((known, value))
      } else if result.partNames.count < 32 {
        parts.append((result.partNames.count, value))
        result.partNames.append(String(decoding: name, as: UTF8.self))
      }
    }
    result.splits[Int(sample.operation)].add(sample, total: total, parts: parts)
    let second = Int(sample.intended / 1_000_000_000)
    while result.secondSplits.count <= second { result.secondSplits.append(SplitSums()) }
    result.secondSplits[second].add(sample, total: total, parts: parts)
  }

  /// Takes the end of a connection: of one that is idle, that is no error.
  func ended(_ connection: LoadConnection) {
    let index = connection.request
    connection.request = nil
    drop(connection)
    if let index, !samples[index].isFinished { lost(index) }
    settle()
  }

  /// A request whose answer is lost: a mutation is sent again with its key, up to three times.
  private func lost(_ index: Int) {
    if isMutation(index), samples[index].attempts < 4, !isInterrupted {
      sendAgain(index, after: 0)
    } else {
      finish(index, .transport, at: offset(Moment.now))
    }
  }

  private func isMutation(_ index: Int) -> Bool {
    writer.operation(Int(samples[index].operation)).kind == .mutation
  }

  private func sendAgain(_ index: Int, after seconds: Double) {
    samples[index].attempts += 1
    let window = firstMark
    let again = { [self] in
      guard firstMark == window, completion != nil, !samples[index].isFinished else { return }
      if let connection = idle.popLast() {
        send(index, on: connection)
      } else {
        queue.insert(index, at: queueHead)
        openConnections()
      }
    }
    guard seconds > 0 else { return again() }
    retries.append(loop.schedule(after: .seconds(min(seconds, 3600)), again))
  }

  private func finish(
    _ index: Int, _ outcome: Outcome, at time: Int64, isReplayed: Bool = false
  ) {
    guard !samples[index].isFinished else { return }
    samples[index].isFinished = true
    samples[index].outcome = outcome
    samples[index].done = time
    inFlight -= 1
    if outcome == .ok {
      progress.ok += 1
      if progress.recent.count < 100_000 { progress.recent.append(samples[index].latency) }
    } else {
      progress.errors += 1
    }
    guard let onLedger, isMutation(index) else { return }
    let fate: LedgerEntry.Fate =
      switch outcome {
      case .ok: .acknowledged
      case .graphql, .throttled, .http: .refused
      case .transport, .timeout: .unknown
      }
    onLedger(
      LedgerEntry(
        key: writer.key(mark(of: index)),
        operation: writer.operation(Int(samples[index].operation)).name, fate: fate,
        attempts: Int(samples[index].attempts), isReplayed: isReplayed))
  }
}
