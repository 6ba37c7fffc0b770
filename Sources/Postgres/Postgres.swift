import CPostgreSQL

/// Everything that talks to PostgreSQL, over libpq.
///
/// In the line of the program this is the one stage that waits: a `PostgresStatement` with its
/// `PostgresParameters` goes in, a `PostgresResult` in binary comes out, or a `PostgresError` with
/// its kind. `PostgresPool` is what a loop uses: its connections live on that loop, in pipeline
/// mode, and what it decides is decided by `PoolState`, which knows no sockets.
/// `PostgresSession` is the blocking kind, for setup work on a thread of its own.
///
/// Left to others: what the statements say, what the values mean, and how errors are worded for
/// clients. No pointer of libpq is seen outside this module.
package enum Postgres {
  /// The version of libpq at run time, such as 150018.
  package static var libraryVersion: Int { Int(PQlibVersion()) }
}
