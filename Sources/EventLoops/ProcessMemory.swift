import CEventLoops

/// The memory of this process.
package enum ProcessMemory {
  /// Releases memory that is no longer in use, such as that of the start. It returns freed
  /// allocations, and pages of the program and its libraries, which the system's cache provides
  /// again when they are used.
  ///
  /// It takes a few milliseconds and causes some page faults in running threads.
  package static func release() { event_release_memory() }
}
