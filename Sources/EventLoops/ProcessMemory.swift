import CEventLoops

/// The memory of this process.
package enum ProcessMemory {
  /// Releases memory that is no longer in use, such as that needed only at the start: freed
  /// allocations, and pages of the program and its libraries, which the system's cache provides
  /// again when they are touched.
  ///
  /// It takes a few milliseconds and causes some page faults in running threads.
  package static func release() { event_release_memory() }
}
