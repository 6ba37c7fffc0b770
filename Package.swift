// swift-tools-version: 6.2
// The modules of Sociograph, lowest first. A target may depend only on rows beneath its own;
// `swift build --explicit-target-dependency-import-check error` holds the sources to it.
import PackageDescription

let settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .strictMemorySafety(),
  .treatAllWarnings(as: .error),
  // A check at each access to a property of a class is a tenth of what a request costs. Debug builds,
  // and so all tests, keep them.
  .unsafeFlags(["-enforce-exclusivity=unchecked"], .when(configuration: .release)),
]

/// - Parameter embedded: files that become bytes in the program.
func module(
  _ name: String, _ dependencies: [Target.Dependency] = [], embedded: [String] = []
) -> Target {
  .target(
    name: name, dependencies: dependencies, resources: embedded.map { .embedInCode($0) },
    swiftSettings: optimized)
}

/// Tests run a debug build of the program. Optimized, it takes half the time; assertions and the checks of
/// exclusivity stay.
let optimized =
  settings + [
    .unsafeFlags(["-O", "-assert-config", "Debug"], .when(configuration: .debug))
  ]

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .testTarget(name: name, dependencies: dependencies, swiftSettings: settings)
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
    .systemLibrary(
      name: "CSodium", pkgConfig: "libsodium", providers: [.apt(["libsodium-dev"])]),
    .systemLibrary(name: "CCJOSE", pkgConfig: "cjose", providers: [.apt(["libcjose-dev"])]),
    .systemLibrary(
      name: "CNGHTTP2", pkgConfig: "libnghttp2", providers: [.apt(["libnghttp2-dev"])]),
    .systemLibrary(name: "CWSLay", providers: [.apt(["libwslay-dev"])]),
    .target(name: "CEventLoops"),
    .target(name: "CCompression"),
    .target(name: "CSandbox"),

    // 1
    module("JSON"),
    module("GraphQLLanguage"),
    module("SQL"),
    module("EventLoops", ["CEventLoops"]),
    module("Cryptography", ["COpenSSL", "CSodium", "CCJOSE"]),
    module("Sandbox", ["CSandbox"]),
    module("Compression", ["CCompression"]),
    // 2
    module("GraphQLResponse", ["GraphQLLanguage", "JSON"]),
    module("Postgres", ["CPostgreSQL", "EventLoops", "SQL"]),
    module("HTTP", ["CLLHTTP", "CNGHTTP2", "COpenSSL", "CWSLay", "EventLoops", "Cryptography"]),
    module("Pictures", ["Sandbox", "Cryptography"]),
    // 3
    module("GraphQLSchema", ["GraphQLResponse", "GraphQLLanguage", "JSON"]),
    module(
      "GraphQLTransport", ["GraphQLResponse", "HTTP", "JSON", "Cryptography", "Compression"]),
    module("Subscriptions", ["GraphQLResponse", "EventLoops", "JSON", "Cryptography"]),
    module(
      "DatabaseSetup", ["Postgres", "Sandbox", "EventLoops", "Cryptography", "Pictures", "SQL"]),
    module("Drafting", ["GraphQLLanguage", "Postgres", "SQL"]),
    // 4
    module("GraphQLValidation", ["GraphQLSchema", "GraphQLResponse", "GraphQLLanguage"]),
    module(
      "Load",
      [
        "GraphQLTransport", "GraphQLLanguage", "Postgres", "HTTP", "EventLoops", "Cryptography",
        "JSON",
      ]),
    // 5
    module(
      "GraphQLPlanning",
      ["GraphQLValidation", "GraphQLSchema", "GraphQLResponse", "GraphQLLanguage", "SQL", "JSON"]),
    module(
      "GraphQLResolving",
      ["GraphQLValidation", "GraphQLSchema", "GraphQLResponse", "GraphQLLanguage", "JSON"]),
    // 6
    module(
      "GraphQLExecution",
      [
        "GraphQLPlanning", "GraphQLResolving", "GraphQLValidation", "GraphQLSchema",
        "GraphQLResponse", "GraphQLLanguage", "Postgres", "EventLoops", "Cryptography", "JSON",
        "SQL",
      ]),
    module(
      "StorageChecking",
      [
        "GraphQLPlanning", "GraphQLSchema", "GraphQLResponse", "GraphQLLanguage", "Postgres", "SQL",
        "JSON",
      ]),
    module(
      "GraphQLChecking",
      [
        "GraphQLResolving", "GraphQLValidation", "GraphQLSchema", "GraphQLResponse",
        "GraphQLLanguage", "JSON",
      ]),
    // 7
    module(
      "Accounts",
      [
        "GraphQLExecution", "GraphQLResponse", "Postgres", "EventLoops", "JSON", "Cryptography",
        "SQL",
      ]),
    // 8
    module(
      "Server",
      [
        "Accounts", "GraphQLTransport", "GraphQLExecution", "StorageChecking", "GraphQLPlanning",
        "Subscriptions", "GraphQLResolving", "GraphQLValidation", "GraphQLSchema",
        "GraphQLResponse",
        "GraphQLLanguage", "DatabaseSetup", "Postgres", "HTTP", "Pictures", "Sandbox", "EventLoops",
        "Cryptography", "Compression", "JSON", "SQL",
      ],
      embedded: [
        "Page/page.js", "Page/start.js", "Page/events.js", "Page/plan.js", "Page/page.css",
      ]),
    // 9
    module(
      "CommandLine",
      [
        "Server", "Accounts", "Load", "Drafting", "Cryptography", "GraphQLTransport",
        "GraphQLExecution", "GraphQLChecking", "StorageChecking", "GraphQLPlanning",
        "GraphQLSchema",
        "GraphQLResponse", "GraphQLLanguage", "DatabaseSetup", "Postgres", "HTTP", "Pictures",
        "JSON", "EventLoops", "SQL",
      ]),
    // 10
    .executableTarget(
      name: "sociograph", dependencies: ["CommandLine"], swiftSettings: settings,
      // Addresses of functions are found at the start, and read-only from then on.
      linkerSettings: [.unsafeFlags(["-Xlinker", "-z", "-Xlinker", "now"])]),
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
      dependencies: ["GraphQLValidation", "GraphQLSchema", "GraphQLLanguage", "JSON", "SQL"],
      path: "Tests/Fuzz/Targets", swiftSettings: settings),

    tests("JSONTests", ["JSON", "OracleSupport", "TestSupport"]),
    tests("SQLTests", ["SQL"]),
    tests("EventLoopsTests", ["EventLoops", "TestSupport"]),
    tests("AccountsTests", ["Accounts", "Cryptography", "TokenSupport"]),
    tests("CryptographyTests", ["Cryptography", "TokenSupport"]),
    .target(
      name: "TokenSupport", dependencies: ["CCJOSE"], path: "Tests/TokenSupport",
      swiftSettings: settings),
    tests("GraphQLResponseTests", ["GraphQLResponse", "GraphQLLanguage", "JSON"]),
    tests(
      "GraphQLLanguageTests", ["GraphQLLanguage", "JSON", "OracleSupport", "TestSupport"]),
    tests(
      "GraphQLSchemaTests",
      [
        "GraphQLSchema", "GraphQLResponse", "GraphQLLanguage", "JSON", "OracleSupport",
        "TestSupport",
      ]),
    tests(
      "GraphQLValidationTests",
      ["GraphQLValidation", "GraphQLSchema", "GraphQLResponse", "GraphQLLanguage", "OracleSupport"]),
    tests(
      "GraphQLResolvingTests",
      [
        "GraphQLResolving", "GraphQLValidation", "GraphQLSchema", "GraphQLResponse",
        "GraphQLLanguage", "JSON",
      ]),
    tests(
      "GraphQLCheckingTests",
      [
        "GraphQLChecking", "GraphQLExecution", "GraphQLValidation", "GraphQLSchema",
        "GraphQLLanguage", "JSON",
        "OracleSupport", "TestSupport",
      ]),
    tests(
      "GraphQLPlanningTests",
      [
        "GraphQLPlanning", "GraphQLSchema", "GraphQLResponse", "GraphQLLanguage", "JSON",
        "Postgres", "OracleSupport", "TestSupport",
      ]),
    tests(
      "GraphQLExecutionTests",
      [
        "GraphQLExecution", "GraphQLPlanning", "GraphQLValidation", "GraphQLSchema",
        "GraphQLResponse", "GraphQLLanguage", "Postgres", "CPostgreSQL", "SQL", "EventLoops",
        "JSON",
      ]),
    tests(
      "SubscriptionsTests",
      ["Subscriptions", "GraphQLResponse", "EventLoops", "JSON", "OracleSupport"]),
    tests("CompressionTests", ["Compression", "TestSupport"]),
    tests("SandboxTests", ["Sandbox", "TestSupport"]),
    tests("PicturesTests", ["Pictures", "Sandbox", "Cryptography", "TestSupport"]),
    tests("HTTPTests", ["HTTP", "EventLoops", "HTTPTestSupport", "TestSupport"]),
    tests(
      "LoadTests",
      [
        "Load", "GraphQLLanguage", "Postgres", "HTTP", "EventLoops", "JSON", "HTTPTestSupport",
        "TestSupport",
      ]),
    tests(
      "PostgresTests",
      ["Postgres", "DatabaseSetup", "EventLoops", "OracleSupport", "SQL", "TestSupport"]),
    tests(
      "DraftingTests", ["Drafting", "DatabaseSetup", "GraphQLLanguage", "Postgres", "TestSupport"]),
    tests("DatabaseSetupTests", ["DatabaseSetup", "Pictures", "Postgres", "TestSupport"]),
    tests(
      "StorageCheckingTests",
      [
        "StorageChecking", "GraphQLPlanning", "GraphQLSchema", "GraphQLLanguage", "Postgres",
        "TestSupport",
      ]),
    tests(
      "GraphTests",
      [
        "Server", "StorageChecking", "GraphQLExecution", "GraphQLPlanning", "GraphQLSchema",
        "GraphQLResponse", "GraphQLLanguage", "DatabaseSetup", "Postgres", "EventLoops", "JSON",
        "TestSupport", "TokenSupport", "Accounts", "Cryptography", "Pictures", "HTTPTestSupport",
        "HTTP", "OracleSupport", "SQL",
      ]),
    tests(
      "ServerTests",
      [
        "Server", "Subscriptions", "GraphQLTransport", "GraphQLExecution", "StorageChecking",
        "GraphQLPlanning", "GraphQLSchema", "GraphQLResponse", "GraphQLLanguage", "DatabaseSetup",
        "Postgres", "HTTP", "EventLoops", "JSON", "TestSupport", "HTTPTestSupport", "OracleSupport",
        "Accounts", "TokenSupport",
      ]),
    tests(
      "CommandLineTests",
      [
        "CommandLine", "Server", "GraphQLTransport", "GraphQLPlanning", "GraphQLValidation",
        "DatabaseSetup", "Postgres", "HTTP", "GraphQLResponse", "GraphQLLanguage", "Cryptography",
        "JSON", "TestSupport", "TokenSupport", "HTTPTestSupport", "OracleSupport",
      ]),
    .target(
      name: "OracleSupport", dependencies: ["JSON"], path: "Tests/OracleSupport",
      swiftSettings: settings),
    .target(
      name: "TestSupport",
      dependencies: ["JSON", "DatabaseSetup", "EventLoops", "Postgres", "SQL"],
      path: "Tests/TestSupport",
      swiftSettings: settings),
    tests(
      "GraphQLTransportTests",
      ["GraphQLTransport", "HTTP", "JSON", "GraphQLResponse", "GraphQLLanguage", "HTTPTestSupport"]),
    .target(
      name: "HTTPTestSupport", dependencies: ["HTTP", "EventLoops", "JSON"],
      path: "Tests/HTTPTestSupport",
      swiftSettings: settings),
  ]
)
