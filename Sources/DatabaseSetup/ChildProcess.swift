import Glibc

/// Programs of PostgreSQL, each run in a separate session: a terminal's Ctrl-C reaches the server
/// alone, which then stops them in order.
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
    var status: Int32 = 0
    while unsafe waitpid(process, &status, 0) < 0 && errno == EINTR {}
    return exitStatus(status)
  }

  /// Runs a program to its end, and returns its exit status.
  static func run(
    _ arguments: [String], user: String?, output: String = "/dev/null"
  ) throws(SetupError) -> Int32 {
    let process = try start(arguments, user: user, output: output)
    var status: Int32 = 0
    while unsafe waitpid(process, &status, 0) < 0 && errno == EINTR {}
    return exitStatus(status)
  }

  /// Returns the exit status of a child that has ended, or nil while it runs. A process that is not
  /// our child counts as ended with 0 when it is gone.
  static func ended(_ process: pid_t) -> Int32? {
    var status: Int32 = 0
    let result = unsafe waitpid(process, &status, WNOHANG)
    if result == process { return exitStatus(status) }
    if result == 0 { return nil }
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

  /// Returns the exit status, or 128 plus the signal's number if a signal ended it, as shells do.
  private static func exitStatus(_ status: Int32) -> Int32 {
    let signal = status & 0x7f
    return signal == 0 ? (status >> 8) & 0xff : 128 + signal
  }

  package static func find(_ program: String) -> String? {
    ["/usr/bin/", "/bin/", "/usr/sbin/", "/sbin/", "/usr/local/bin/"].map { $0 + program }
      .first(where: FileSystem.isExecutable)
  }

  private static func withCStrings<R>(
    _ strings: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> R
  ) -> R {
    var pointers = unsafe strings.map { unsafe strdup($0) }
    unsafe pointers.append(nil)
    defer { for index in unsafe pointers.indices { unsafe free(pointers[index]) } }
    return unsafe pointers.withUnsafeBufferPointer { buffer in
      // Not empty: it ends with a nil.
      guard let base = buffer.baseAddress else { preconditionFailure("No arguments.") }
      return unsafe body(base)
    }
  }
}
