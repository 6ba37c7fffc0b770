import CEventLoops

/// What this process keeps in memory.
package enum ProcessMemory {
  /// Gives back what only was in use until now, such as what a start needs once: allocations that were freed, and
  /// pages of the program and its libraries, which come back from the system's cache when they are touched again.
  ///
  /// Takes a few milliseconds, and threads that run meanwhile some page faults.
  package static func release() { event_release_memory() }
}
