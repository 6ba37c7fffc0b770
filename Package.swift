// swift-tools-version: 6.2
// The modules of Sociograph, lowest first. A target may depend only on rows beneath its own;
// `swift build --explicit-target-dependency-import-check error` holds the sources to it.
import PackageDescription

let settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .strictMemorySafety(),
  .treatAllWarnings(as: .error),
]

func module(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
  .target(name: name, dependencies: dependencies, swiftSettings: settings)
}

func tests(
  _ name: String, _ dependencies: [Target.Dependency], exclude: [String] = []
) -> Target {
  .testTarget(
    name: name, dependencies: dependencies, exclude: exclude, swiftSettings: settings)
}

let package = Package(
  name: "sociograph",
  products: [.executable(name: "sociograph", targets: ["sociograph"])],
  targets: [
    // C, behind one door each.
    .systemLibrary(name: "CPostgreSQL", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
    .systemLibrary(name: "CLLHTTP", pkgConfig: "libllhttp"),
    .systemLibrary(
      name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
    .target(name: "CEventLoops"),

    // 1
    module("JSON"),
    module("GraphQLLanguage"),
    module("SQL"),
    module("EventLoops", ["CEventLoops"]),
    // 2
    module("GraphQLSchema", ["GraphQLLanguage", "JSON"]),
    module("Postgres", ["CPostgreSQL", "EventLoops", "SQL"]),
    module("HTTP", ["CLLHTTP", "COpenSSL", "EventLoops"]),
    // 3
    module("GraphQLValidation", ["GraphQLSchema", "GraphQLLanguage"]),
    module("DatabaseSetup", ["Postgres", "EventLoops"]),
    // 4
    module("GraphQLPlanning", ["GraphQLValidation", "GraphQLSchema", "GraphQLLanguage", "SQL"]),
    module(
      "GraphQLResolving", ["GraphQLValidation", "GraphQLSchema", "GraphQLLanguage", "JSON"]),
    // 5
    module(
      "GraphQLExecution",
      [
        "GraphQLPlanning", "GraphQLResolving", "GraphQLValidation", "GraphQLSchema",
        "GraphQLLanguage", "Postgres", "JSON", "COpenSSL",
      ]),
    module(
      "GraphQLChecking",
      ["GraphQLResolving", "GraphQLValidation", "GraphQLSchema", "GraphQLLanguage", "JSON"]),
    // 6
    module("Accounts", ["Postgres", "COpenSSL"]),
    module(
      "GraphQLTransport", ["HTTP", "GraphQLSchema", "GraphQLLanguage", "JSON", "COpenSSL"]),
    // 7
    module(
      "Server",
      [
        "Accounts", "GraphQLTransport", "GraphQLExecution", "GraphQLPlanning",
        "GraphQLResolving", "GraphQLValidation", "GraphQLSchema", "GraphQLLanguage",
        "DatabaseSetup", "Postgres", "HTTP", "EventLoops", "JSON",
      ]),
    // 8
    .executableTarget(
      name: "sociograph", dependencies: ["Server", "GraphQLChecking", "GraphQLLanguage"],
      swiftSettings: settings),
    // Not part of the product.
    .executableTarget(
      name: "benchmark-language",
      dependencies: [
        "GraphQLPlanning", "GraphQLValidation", "GraphQLSchema", "GraphQLLanguage", "JSON",
      ], path: "Benchmarks/Language", swiftSettings: settings),
    .executableTarget(
      name: "benchmark-requests", dependencies: ["Server", "Postgres", "HTTP", "EventLoops"],
      path: "Benchmarks/Requests", swiftSettings: settings),

    // Built and run by script/fuzz.
    .target(
      name: "FuzzTargets",
      dependencies: ["GraphQLValidation", "GraphQLSchema", "GraphQLLanguage", "JSON"],
      path: "Tests/Fuzz/Targets", swiftSettings: settings),

    tests("JSONTests", ["JSON"]),
    tests("SQLTests", ["SQL"]),
    tests("GraphQLLanguageTests", ["GraphQLLanguage", "JSON", "OracleSupport"]),
    tests(
      "GraphQLSchemaTests", ["GraphQLSchema", "GraphQLLanguage", "JSON", "OracleSupport"],
      exclude: ["Fixtures"]),
    tests(
      "GraphQLValidationTests",
      ["GraphQLValidation", "GraphQLSchema", "GraphQLLanguage", "OracleSupport"]),
    tests(
      "GraphQLCheckingTests",
      [
        "GraphQLChecking", "GraphQLValidation", "GraphQLSchema", "GraphQLLanguage", "JSON",
        "OracleSupport",
      ]),
    tests(
      "GraphQLPlanningTests", ["GraphQLPlanning", "GraphQLSchema", "GraphQLLanguage", "JSON"]),
    tests(
      "GraphQLExecutionTests",
      [
        "GraphQLExecution", "GraphQLPlanning", "GraphQLValidation", "GraphQLSchema",
        "GraphQLLanguage", "JSON",
      ]),
    tests("HTTPTests", ["HTTP", "EventLoops", "HTTPTestSupport"]),
    tests("PostgresTests", ["Postgres", "DatabaseSetup", "EventLoops", "TestSupport"]),
    tests("DatabaseSetupTests", ["DatabaseSetup", "Postgres", "TestSupport"]),
    tests(
      "GraphTests",
      [
        "Server", "GraphQLExecution", "GraphQLPlanning", "GraphQLSchema", "GraphQLLanguage",
        "DatabaseSetup", "Postgres", "EventLoops", "JSON", "TestSupport",
      ]),
    tests(
      "ServerTests",
      [
        "Server", "GraphQLTransport", "GraphQLLanguage", "DatabaseSetup", "Postgres", "HTTP",
        "JSON", "TestSupport", "HTTPTestSupport", "OracleSupport",
      ]),
    .target(
      name: "OracleSupport", dependencies: ["JSON"], path: "Tests/OracleSupport",
      swiftSettings: settings),
    .target(
      name: "TestSupport", dependencies: ["DatabaseSetup", "Postgres"], path: "Tests/TestSupport",
      swiftSettings: settings),
    tests(
      "GraphQLTransportTests",
      ["GraphQLTransport", "HTTP", "JSON", "GraphQLLanguage", "HTTPTestSupport"]),
    .target(
      name: "HTTPTestSupport", dependencies: ["HTTP", "EventLoops"], path: "Tests/HTTPTestSupport",
      swiftSettings: settings),
  ]
)
