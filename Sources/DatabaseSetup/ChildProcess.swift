import Glibc
import Sandbox

/// Programs of PostgreSQL, each run in a separate session: a terminal's Ctrl-C reaches the server
/// alone, which then stops them in order.
///
/// They run for long, as another user, and may outlive this process. `ChildProgram` of `Sandbox` is
/// for programs that turn bytes into bytes.
package enum ChildProcess {
  /// Starts a program.
  ///
  /// - Parameters:
  ///   - arguments: the program's path, then its arguments.
  ///   - user: the name of the user to run as; only root can.
  ///   - output: a file for what it prints.
  package static func start(
    _ arguments: [String], user: String?, output: String
  ) throws(SetupError) -> pid_t {
    var arguments = arguments
    let program = arguments.first ?? ""
    guard let env = Self.find("env") else { throw SetupError("The program env is missing.") }
    if let user {
      guard let setpriv = Self.find("setpriv") else {
        throw SetupError(
          "PostgreSQL does not run as root, and setpriv (package util-linux) is missing.")
      }
      arguments =
        [setpriv, "--reuid=\(user)", "--regid=\(user)", "--init-groups", "--"] + arguments
    }
    // It must run in a place that its user can enter.
    arguments = [env, "--chdir=/"] + arguments
    let environment = [
      "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8",
      "LC_ALL=C.UTF-8", "TZ=UTC", "PGTZ=UTC",
    ]

    var files = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&files)
    defer { unsafe posix_spawn_file_actions_destroy(&files) }
    unsafe posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0)
    unsafe posix_spawn_file_actions_addopen(
      &files, 1, output, O_WRONLY | O_CREAT | O_APPEND, 0o644)
    unsafe posix_spawn_file_actions_adddup2(&files, 1, 2)
    // PostgreSQL runs for long. If it inherited a pipe that another thread opens for a program, the reader of that
    // pipe would wait for PostgreSQL to end.
    // What is not open is no error.
    for descriptor in 3..<min(Int32(clamping: sysconf(Int32(_SC_OPEN_MAX))), 16_384) {
      unsafe posix_spawn_file_actions_addclose(&files, descriptor)
    }

    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    unsafe sigemptyset(&none)
    var all = sigset_t()
    unsafe sigfillset(&all)
    unsafe posix_spawnattr_setsigmask(&attributes, &none)
    unsafe posix_spawnattr_setsigdefault(&attributes, &all)
    // POSIX_SPAWN_SETSID is not declared to Swift.
    let newSession: Int32 = 0x80
    unsafe posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | newSession))

    var process: pid_t = 0
    let code = unsafe withCStrings(arguments) { arguments in
      unsafe withCStrings(environment) { environment in
        unsafe posix_spawn(
          &process, env, &files, &attributes, arguments, environment)
      }
    }
    guard code == 0 else {
      throw SetupError("Cannot run \(program): \(describe(code)).")
    }
    return process
  }

  /// Runs a program in this terminal to its end, as a shell does: it gets the terminal's input,
  /// including Ctrl-C.
  ///
  /// - Parameters:
  ///   - arguments: the program's path or name, then its arguments.
  ///   - environment: variables to add to those of this process.
  /// - Returns: the exit status.
  package static func runInForeground(
    _ arguments: [String], environment: [String: String]
  ) throws(SetupError) -> Int32 {
    var process: pid_t = 0
    let program = arguments.first ?? ""
    for (name, value) in environment { unsafe setenv(name, value, 1) }
    let previous = [SIGINT, SIGQUIT].map { number in (number, signal(number, SIG_IGN)) }
    defer { for (number, handler) in previous { signal(number, handler) } }
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    var taken = sigset_t()
    unsafe sigemptyset(&taken)
    for number in [SIGINT, SIGQUIT, SIGPIPE] { unsafe sigaddset(&taken, number) }
    unsafe posix_spawnattr_setsigdefault(&attributes, &taken)
    unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF))
    let code = unsafe withCStrings(arguments) { arguments in
      unsafe posix_spawnp(&process, program, nil, &attributes, arguments, environ)
    }
    guard code == 0 else { throw SetupError("Cannot run \(program): \(describe(code)).") }
    return waitForExit(of: process)
  }

  /// Runs a program to its end, and returns its exit status.
  static func run(
    _ arguments: [String], user: String?, output: String = "/dev/null"
  ) throws(SetupError) -> Int32 {
    let process = try start(arguments, user: user, output: output)
    return waitForExit(of: process)
  }

  /// Returns the exit status of a child that has ended, or nil while it runs. A process that is not
  /// our child counts as ended with 0 when it is gone.
  static func ended(_ process: pid_t) -> Int32? {
    if let status = exitStatus(of: process) { return status }
    return isAlive(process) ? nil : 0
  }

  static func isAlive(_ process: pid_t) -> Bool {
    guard process > 0, kill(process, 0) == 0 || errno == EPERM else { return false }
    // One that has ended and waits for its parent to notice does not count.
    guard let text = FileSystem.readText("/proc/\(process)/stat"),
      let end = text.lastIndex(of: ")")
    else { return true }
    return !text[end...].hasPrefix(") Z")
  }

  package static func find(_ program: String) -> String? {
    ["/usr/bin/", "/bin/", "/usr/sbin/", "/sbin/", "/usr/local/bin/"].map { $0 + program }
      .first(where: FileSystem.isExecutable)
  }
}
