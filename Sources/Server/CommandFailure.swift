/// Something that stops a command: one line, exit code 1.
package struct CommandFailure: Error, Sendable, CustomStringConvertible {
  package let description: String

  package init(_ description: String) { self.description = description }
}
