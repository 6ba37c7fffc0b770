import Postgres
import SQL

/// A function that the database needs to have called periodically, and its period.
///
/// The graph's view `background_task(task, period)` lists its functions, which take no argument;
/// the server's own are built in. Any of several servers may run a task, but only one at a time
/// does: the database records the last run (`sociograph_task`). Any role that may call the graph's
/// functions may run them, with their owner's privileges.
package struct BackgroundTask: Sendable, Equatable {
  /// The name of the function.
  package let name: String
  package let period: Duration

  package init(name: String, period: Duration) {
    self.name = name
    self.period = period
  }

  /// Returns all tasks of the database; none if it was never migrated.
  package static func all(in session: PostgresSession) throws(PostgresError) -> [BackgroundTask] {
    try session.contract().has(GraphContract.tasks) ? required(in: session) : []
  }

  /// Returns all tasks of the database.
  ///
  /// - Throws: PostgreSQL's error if the database was never migrated.
  package static func required(
    in session: PostgresSession
  ) throws(PostgresError) -> [BackgroundTask] {
    try session.execute(
      """
      SELECT task, ceil(extract(epoch FROM period) * 1000)::bigint FROM \(GraphContract.tasks)()
      WHERE period > interval '0' ORDER BY task
      """
    ).compactMap { row in
      guard let name = row[0], let milliseconds = row[1].flatMap({ Int64($0) }) else { return nil }
      return BackgroundTask(name: name, period: .milliseconds(milliseconds))
    }
  }

  /// Runs the task, unless another process is running it.
  ///
  /// - Parameter whenDue: whether to run it only if it was not run for a period.
  /// - Returns: whether it was run.
  package func run(whenDue: Bool, in session: PostgresSession) throws(PostgresError) -> Bool {
    let rows = try session.execute(
      "SELECT \(GraphContract.runTask)($1, $2)", [name, whenDue ? "f" : "t"])
    return rows.first?.first == "t"
  }

  /// Returns the configuration for running tasks, which has longer timeouts.
  package static func configuration(
    like configuration: PostgresConfiguration
  ) -> PostgresConfiguration {
    var configuration = configuration
    configuration.applicationName = "sociograph tasks"
    configuration.isReadOnly = false
    configuration.statementTimeout = .seconds(1800)
    configuration.lockTimeout = .seconds(10)
    return configuration
  }
}

extension BackgroundTask {
  /// The tables, created once.
  static let tables = """
    CREATE TABLE IF NOT EXISTS sociograph_task (
      name text CONSTRAINT sociograph_task_key PRIMARY KEY,
      ran_at timestamptz NOT NULL
    ) WITH (fillfactor = 20);
    COMMENT ON TABLE sociograph_task IS
      'One background task, with the date and time of its last run.';
    """

  /// The functions, replaced together with the graph's.
  static let functions = """

    CREATE OR REPLACE FUNCTION sociograph_tasks() RETURNS TABLE (task text, period interval)
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
    BEGIN
      RETURN QUERY SELECT 'sociograph_forget_requests'::text, interval '1 hour';
      IF to_regclass('background_task') IS NOT NULL THEN
        RETURN QUERY EXECUTE 'SELECT b.task::text, b.period::interval FROM background_task b';
      END IF;
    END $$;
    COMMENT ON FUNCTION sociograph_tasks IS
      'Returns the background tasks with their periods: the server''s own task, and those of the view background_task.';

    CREATE OR REPLACE FUNCTION sociograph_run_task(wanted text, is_forced boolean)
    RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
    DECLARE every interval := (SELECT t.period FROM sociograph_tasks() t WHERE t.task = wanted);
    BEGIN
      IF every IS NULL
        OR NOT pg_try_advisory_xact_lock(hashtextextended('sociograph_run_task', hashtext(wanted)))
      THEN
        RETURN false;
      END IF;
      -- A look of its own, younger than the lock: whoever held it has noted when that was.
      IF NOT is_forced AND EXISTS (SELECT FROM sociograph_task t
          WHERE t.name = wanted AND t.ran_at > clock_timestamp() - every * 0.9) THEN
        RETURN false;
      END IF;
      EXECUTE format('SELECT %I()', wanted);
      INSERT INTO sociograph_task (name, ran_at) VALUES (wanted, clock_timestamp())
      ON CONFLICT (name) DO UPDATE SET ran_at = EXCLUDED.ran_at;
      RETURN true;
    END $$;
    COMMENT ON FUNCTION sociograph_run_task IS
      'Runs one of sociograph_tasks(), and returns whether it did. Skips a task that another server is running, and, '
      'unless forced, one that ran within its period.';
    """
}
