import DatabaseSetup
import Foundation

/// The database of a command: the one it was given, or an embedded cluster for as long as it runs.
struct Database {
  let connectionString: String
  private let cluster: EmbeddedCluster?

  static func open(_ options: CommandOptions) throws -> Database {
    if let url = options.text("database") {
      return Database(connectionString: url, cluster: nil)
    }
    var settings = EmbeddedCluster.Options()
    settings.dataDirectory = options.text("data") ?? settings.dataDirectory
    let cluster = try EmbeddedCluster.start(settings) { event in
      FileHandle.standardError.write(Data("sociograph: \(event)\n".utf8))
    }
    return Database(connectionString: cluster.connectionString, cluster: cluster)
  }

  func close() { cluster?.stop() }
}
