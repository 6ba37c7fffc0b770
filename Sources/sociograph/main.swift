import CommandLine
import Foundation

let process = ProcessInfo.processInfo
let arguments = ProgramArguments.ofThisProcess(or: Array(process.arguments.dropFirst()))
exit(Program.run(arguments, environment: process.environment))
