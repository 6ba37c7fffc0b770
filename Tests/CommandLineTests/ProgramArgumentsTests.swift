import Testing

@testable import CommandLine

/// The arguments of a process according to the kernel.
@Suite struct ProgramArgumentsTests {
  @Test(
    arguments: [
      ("sociograph\0", []), ("sociograph\0serve\0--listen\0*:80\0", ["serve", "--listen", "*:80"]),
      ("a b\0\0x y\0\0", ["", "x y", ""]), ("\0version\0", ["version"]),
    ] as [(String, [String])]) func `each argument ends with a NUL, and the first is the program`(
      bytes: String, arguments: [String]
    )
  {
    #expect(ProgramArguments.read(Array(bytes.utf8)) == arguments)
  }

  @Test(arguments: ["", "sociograph"]) func `what is no command line is none`(bytes: String) {
    #expect(ProgramArguments.read(Array(bytes.utf8)) == nil)
  }
}
