import CommandLine
import Foundation

let process = ProcessInfo.processInfo
exit(Program.run(Array(process.arguments.dropFirst()), environment: process.environment))
