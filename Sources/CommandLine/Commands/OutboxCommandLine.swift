import Accounts
import Postgres
import Server

/// `sociograph outbox`: delivers the outbox as `serve --outbox` does, as a separate process.
enum OutboxCommandLine {
  static let specification = CommandSpecification(
    "outbox", "Passes mails, messages and wall posts to a command, each at least once.",
    operands: "COMMAND",
    options: [
      CommandSpecification.Option(
        "once", nil, environment: "SOCIOGRAPH_OUTBOX_ONCE", "deliver what is due now, and exit"),
      CommandSpecification.Option(
        "workers", "N", environment: "SOCIOGRAPH_OUTBOX_WORKERS", default: "2",
        "how many deliveries run at a time"),
      CommandSpecification.Option(
        "timeout", "TIME", environment: "SOCIOGRAPH_OUTBOX_TIMEOUT", default: "60s",
        "the maximum duration of one delivery"),
      CommandSpecification.Option(
        "sealing-key", "FILE",
        "the key that encrypts tokens of linked accounts: 32 bytes in hexadecimal"),
      PublicURL.option,
    ] + SettingOptions.databases,
    notes: """
      COMMAND runs in a shell, with one JSON object on its standard input: {"id", "channel",
      "recipient", "subject", "body", "userId", "attempt", "createdAt"}, and of a wall post "token".
      Mails may have "headers". A push message has "push", and "apns" or "fcm" as these take it.
      Its status is the outcome: 0 delivered; 65, 67, 68 abandoned; any other: tried again.
      67 also deletes the device of a push message.
      Any number of these may run, on any machine.
      Exit status of --once: 0 all were delivered, 1 some were not.
      """)

  static func run(_ options: CommandOptions) throws -> Int32 {
    guard let command = options.operands.first, options.operands.count == 1, !command.isEmpty else {
      throw UsageError("outbox needs one COMMAND, in quotes if it has arguments.")
    }
    var settings = try OutboxSettings.read(
      command, options, workers: "workers", timeout: "timeout")
    settings.box = try AccountInputs.Settings.box(options)
    let given = try PublicURL.read(options)
    let signals = StopSignals()
    let database = try Database.open(options)
    signals.started { database.close() }
    defer { database.close() }
    if settings.box == nil {
      settings.box = try AccountInputs.Settings.embeddedBox(options, isCreating: false)
    }
    var configuration = try database.configuration()
    let url = try PublicURL.settle(given, in: PostgresSession(configuration))
    try PublicURL.require(url, for: "outbox")
    if let url { configuration.settings.append(("sociograph.public_url", url)) }
    let outbox = Outbox(settings, configuration) { event in
      switch event {
      case .delivered: break
      case .failed(let id, let reason, let isTriedAgain):
        Console.warn(
          "\(id) was not delivered and is \(isTriedAgain ? "tried again" : "given up"): \(reason)")
      }
    }
    if try options.isSet("once") {
      try outbox.deliverDue()
    } else {
      signals.serve {}
      outbox.start()
      _ = signals.wait()
      outbox.stop(patience: settings.command.timeout + .seconds(1))
    }
    let counts = outbox.counts
    Console.say("\(counts.delivered) delivered, \(counts.failed) not")
    return try options.isSet("once") && counts.failed > 0 ? 1 : 0
  }
}

enum OutboxSettings {
  static func read(
    _ command: String, _ options: CommandOptions, workers: String, timeout: String
  ) throws(UsageError) -> Outbox.Settings {
    var settings = Outbox.Settings(
      command: OutboxCommand(
        text: command,
        timeout: try options.duration(timeout, in: .milliseconds(1)...(.seconds(3600)))
          ?? .seconds(60)))
    settings.workers = try options.int(workers, in: 1...64) ?? settings.workers
    return settings
  }
}
