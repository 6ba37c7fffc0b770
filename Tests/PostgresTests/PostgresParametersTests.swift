import TestSupport
import Testing

@testable import Postgres

/// Parameters as the server sees them, as text.
@Suite(.usesCluster) struct PostgresParametersTests {
  static let cases: [(String, String?, @Sendable (inout PostgresParameters) -> Void)] = [
    ("bigint", nil, { $0.appendNull() }),
    ("boolean", "true", { $0.append(true) }),
    ("boolean", "false", { $0.append(false) }),
    ("smallint", "-32768", { $0.append(Int16.min) }),
    ("integer", "-2147483648", { $0.append(Int32.min) }),
    ("bigint", "9223372036854775807", { $0.append(Int64.max) }),
    ("float8", "-0.1", { $0.append(-0.1) }),
    ("float8", "NaN", { $0.append(Double.nan) }),
    ("text", "", { $0.append("") }),
    ("text", "grüß 🙂", { $0.append("grüß 🙂") }),
    ("text", "span", { unsafe $0.append(utf8: Array("span".utf8).span.bytes) }),
    ("bytea", "\\x00ff10", { $0.append([0, 255, 16] as [UInt8]) }),
    ("timestamptz", "2000-01-01 00:00:01.5+00", { $0.append(timestamp: 1_500_000) }),
    ("timestamptz", "1999-12-31 23:59:59+00", { $0.append(timestamp: -1_000_000) }),
    ("date", "2000-01-31", { $0.append(date: 30) }),
    (
      "numeric", "12345678901234567890.125", { $0.append(inTextFormat: "12345678901234567890.125") }
    ),
    ("bigint[]", "{}", { $0.append(array: [Int64?]()) }),
    ("bigint[]", "{1,NULL,-3}", { $0.append(array: [1, nil, -3] as [Int64?]) }),
    ("integer[]", "{1,2}", { $0.append(array: [1, 2] as [Int32?]) }),
    ("float8[]", "{0.5,NULL}", { $0.append(array: [0.5, nil] as [Double?]) }),
    ("boolean[]", "{t,f}", { $0.append(array: [true, false] as [Bool?]) }),
    ("text[]", #"{"a,b",NULL,"",ü}"#, { $0.append(array: ["a,b", nil, "", "ü"] as [String?]) }),
    (
      "timestamptz[]", #"{"2000-01-01 00:00:00+00"}"#, { $0.append(timestampArray: [0]) }
    ),
    ("date[]", "{2000-01-02}", { $0.append(dateArray: [1]) }),
  ]

  @Test(arguments: cases.indices)
  func `values arrive as they were`(index: Int) async throws {
    let (type, text, append) = Self.cases[index]
    let harness = try PoolHarness(size: 1)
    var parameters = PostgresParameters()
    append(&parameters)
    let statement = PostgresStatement("SELECT $1::\(type)::text", parameterCount: 1)
    #expect(try await harness.run(statement, parameters) == text)
    // Used again, with another value before it.
    parameters.removeAll()
    parameters.append("before")
    append(&parameters)
    let second = PostgresStatement("SELECT $1::text || ($2::\(type)::text)", parameterCount: 2)
    #expect(try await harness.run(second, parameters) == text.map { "before" + $0 })
  }

  @Test func `rows are read by place, with nulls and types`() async throws {
    let harness = try PoolHarness(size: 1)
    let statement = PostgresStatement(
      """
      SELECT n::bigint AS number, nullif(n::int, 2), n = 3, repeat('x', n)
      FROM generate_series(1, 3) AS n
      """, parameterCount: 0)
    let isRight: Bool = await withCheckedContinuation { continuation in
      harness.loop.execute {
        harness.pool.execute(statement, PostgresParameters()) { outcome, _ in
          switch outcome {
          case .failure: continuation.resume(returning: false)
          case .success(let result):
            #expect(result.rowCount == 3 && result.columnCount == 4)
            #expect(result.name(column: 0) == "number")
            #expect(result.type(column: 0) == .int8 && result.type(column: 1) == .int4)
            #expect(result.type(column: 2) == .bool && result.type(column: 3) == .text)
            #expect((0..<3).map { result.integer(row: $0, column: 0) } == [1, 2, 3])
            #expect((0..<3).map { result.integer(row: $0, column: 1) } == [1, nil, 3])
            #expect(result.isNull(row: 1, column: 1) && !result.isNull(row: 0, column: 1))
            #expect((0..<3).map { result.boolean(row: $0, column: 2) } == [false, false, true])
            #expect((0..<3).map { result.string(row: $0, column: 3) } == ["x", "xx", "xxx"])
            #expect(result.withValue(row: 2, column: 0) { $0.byteCount } == 8)
            #expect(result.withValue(row: 1, column: 1) { $0.byteCount } == 0)
            continuation.resume(returning: true)
          }
        }
      }
    }
    #expect(isRight)
  }

  @Test func `connection strings of both forms are read, others explained`() throws {
    let url = try PostgresConfiguration.options(
      of: "postgresql://ann:pw@db:5433/graph?sslmode=require")
    #expect(url.first { $0.name == "host" }?.value == "db")
    #expect(url.first { $0.name == "port" }?.value == "5433")
    #expect(url.first { $0.name == "sslmode" }?.value == "require")
    let words = try PostgresConfiguration.options(of: "host=/run/x dbname='a b'")
    #expect(words.first { $0.name == "dbname" }?.value == "a b")
    for wrong in ["host", "postgresql://[::1", "nonsense=1", "host=a\0b"] {
      let error = #expect(throws: PostgresConfigurationError.self) {
        try PostgresConfiguration(wrong)
      }
      #expect(error?.message.hasPrefix("The database's connection string cannot be read: ") == true)
    }
  }

  @Test(arguments: [
    "postgresql://ann:hunt%er2@db/graph", "postgresql://ann:hun@ter2@db/graph",
    "postgresql://ann:hun/ter2@db/graph", "postgresql://ann:hun?t@er2@db/graph",
    "postgresql://ann:hunter2@[db/graph", "postgresql://ann:hunter2@[::1]x/graph",
    "postgresql://ann:hunter2@db:hunter2/graph", "postgresql:/ann:hunter2@db/graph",
    "postgresql://ann:hunter2@db/graph?hunter2",
    "postgresql://ann:hunter2@db/graph?hunter2=hunter2",
    "host=db password=a hunter2", "host=db password=a hunter2=a", "host=db password='hunter2",
    "host=db port=hunter2",
  ])
  func `nothing of a password is in what is said of a connection string`(text: String) {
    let error = #expect(throws: PostgresConfigurationError.self) {
      try PostgresConfiguration(text)
    }
    for part in ["hun", "er2"] { #expect(error?.message.contains(part) == false) }
  }

  @Test func `a password may have any character that is written as a URL has it`() throws {
    let url = "postgresql://ann:a%40b%3Ac%2Fd?e@one:1,two:2/graph?application_name=x@y"
    let options = try PostgresConfiguration(url).libraryOptions()
    #expect(options.first { $0.name == "password" }?.value == "a@b:c/d?e")
    #expect(options.first { $0.name == "port" }?.value == "1,2")
  }

  @Test(arguments: [
    ("host=a,b", "read-write"), ("postgresql://a,b/graph", "read-write"),
    ("postgresql:///graph?host=a,b&target_session_attrs=any", "read-write"),
    ("host=a,b target_session_attrs=primary", "primary"), ("host=a", nil),
    ("host=a target_session_attrs=any", "any"),
  ])
  func `of several hosts the one is written to that takes writes`(text: String, wanted: String?)
    throws
  {
    var configuration = try PostgresConfiguration(text)
    configuration.writes = true
    let options = try configuration.libraryOptions().filter { $0.name == "target_session_attrs" }
    #expect(options.map(\.value) == (wanted.map { [$0] } ?? []))
  }

  @Test(arguments: ["standby", "prefer-standby", "read-only"])
  func `a standby is refused, by name and with what to write instead`(value: String) {
    for text in [
      "postgresql://ann:hunter2@a,b/graph?target_session_attrs=\(value)",
      "host=a,b port=1,2 password=hunter2 target_session_attrs=\(value)",
    ] {
      let error = #expect(throws: PostgresConfigurationError.self) {
        try PostgresConfiguration(text)
      }
      #expect(
        error?.message
          == "The database must be one that takes writes: target_session_attrs=\(value) leads to a "
          + "standby, whose reads miss what was just written. Write target_session_attrs=read-write, or leave it out. "
          + "Standbys belong in --replica-database, which gives each client what it wrote."
      )
    }
  }

  @Test func `own options are kept beside the settings of the session`() throws {
    let configuration = try PostgresConfiguration("host=x options='-c geqo=off'")
    let options = try configuration.libraryOptions()
    let given = options.filter { $0.name == "options" }.map(\.value)
    #expect(given.count == 1)
    #expect(given[0].hasPrefix("-c geqo=off -c plan_cache_mode=force_generic_plan "))
  }
}
