import Glibc

let arguments = Array(CommandLine.arguments.dropFirst())
switch arguments.first {
case "check": exit(Check.run(Array(arguments.dropFirst())))
default:
  print("Usage: sociograph check --help")
  exit(2)
}
