/// The version of the program.
package let serverVersion = "0.1.0"
/// The date of this version.
package let serverVersionDate = "2026-11-24"
