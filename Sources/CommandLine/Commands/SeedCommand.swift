/// `sociograph seed`: generates a graph of any size, the same for the same scale and seed.
enum SeedCommand {
  static let specification = CommandSpecification(
    "seed", "Loads a made-up graph into an empty database; scale 1 is about 1,000 people.",
    options: [
      CommandSpecification.Option(
        "scale", "N", default: "1",
        "the size of the graph, in thousands of users"),
      CommandSpecification.Option(
        "random-seed", "S", default: "1",
        "the seed; the same seed gives the same graph"),
      SettingOptions.sql, SettingOptions.photos,
    ] + SettingOptions.databases)

  static func run(_ options: CommandOptions) throws {
    let folder = try SettingOptions.shippedFolder("sql", "sql", options)
    let scale = try options.int("scale", in: 1...100_000) ?? 1
    let seed = try options.int("random-seed", in: 0...Int(Int32.max)) ?? 1
    let database = try Database.open(options, creates: true)
    defer { database.close() }
    try database.requireOwnTables(folder, options)
    _ = try database.migrate(folder)
    let photos = PhotoSettings.folder(options)
    for line in try database.seed(folder, scale: scale, seed: seed, photos: photos) {
      Console.print(line)
    }
  }
}
