import Foundation
import Server

let arguments = Array(CommandLine.arguments.dropFirst())
if arguments.first == "check" { exit(Check.run(Array(arguments.dropFirst()))) }
exit(
  Program.run(
    arguments, environment: ProcessInfo.processInfo.environment,
    otherCommands: [("check", "Checks GraphQL documents and schemas, for editors and CI.")]))
