import JSON
import TestSupport
import Testing

private func written(_ body: (inout JSONWriter) -> Void) -> String {
  var writer = JSONWriter(capacity: 0)
  body(&writer)
  return String(decoding: writer.finish(), as: UTF8.self)
}

@Suite(.blocks) struct JSONWriterTests {
  @Test func `strings are escaped where they must be, at any place and length`() throws {
    #expect(written { $0.write("") } == #""""#)
    #expect(
      written { $0.write("\u{0}\u{1}\u{8}\t\n\u{B}\u{C}\r\u{1F} \"\\/\u{7F}é😀\u{2028}") }
        == "\"\\u0000\\u0001\\b\\t\\n\\u000b\\f\\r\\u001f \\\"\\\\/\u{7F}é😀\u{2028}\"")
    for special in ["\"", "\\", "\n", "\u{1F}", "é", "\u{7F}", "😀", " ", "!", "[", "]"] {
      for length in 0..<40 {
        for place in 0...length {
          let text =
            String(repeating: "x", count: place) + special
            + String(repeating: "y", count: length - place)
          let json = written { $0.write(text) }
          #expect(try JSONParser.parse(Array(json.utf8)) == .string(text))
        }
      }
    }
  }

  @Test func `a string of nothing but escapes`() throws {
    let text = String(repeating: "\u{1}", count: 10_000)
    #expect(written { $0.write(text) } == "\"" + String(repeating: "\\u0001", count: 10_000) + "\"")
  }

  @Test func `whole numbers`() {
    for value: Int64 in [
      0, 1, -1, 9, 10, 99, 100, 12_345, -99_999, .max, .min, 1_000_000_000_000_000_000,
      999_999_999_999_999_999,
    ] {
      #expect(written { $0.write(value) } == "\(value)")
    }
    var value: Int64 = 1
    for _ in 0..<18 {
      value *= 10
      #expect(written { $0.write(value) } == "\(value)")
      #expect(written { $0.write(value - 1) } == "\(value - 1)")
      #expect(written { $0.write(-value) } == "\(-value)")
    }
    #expect(written { $0.write(Int32.min) } == "-2147483648")
    #expect(written { $0.write(Int.max) } == "\(Int.max)")
  }

  @Test func `floating point, in the shortest form that reads back`() {
    let expected: [(Double, String)] = [
      (0, "0"), (-0.0, "0"), (1, "1"), (-1.5, "-1.5"), (0.1, "0.1"), (0.05, "0.05"),
      (52.520008, "52.520008"), (-13.404954, "-13.404954"), (1e15, "1000000000000000"),
      (1.0 / 3, "0.3333333333333333"), (123456.789, "123456.789"),
      (.leastNonzeroMagnitude, "5e-324"),
      (.greatestFiniteMagnitude, "1.7976931348623157e+308"), (0.000001, "0.000001"),
      (.infinity, "null"), (-.infinity, "null"), (.nan, "null"), (100, "100"),
    ]
    for (value, text) in expected { #expect(written { $0.write(value) } == text) }

    var random = SystemRandomNumberGenerator()
    for _ in 0..<20_000 {
      let bits = Double(bitPattern: random.next())
      let decimal = Double(Int.random(in: -1_000_000_000...1_000_000_000)) / 1e6
      let degrees = Double.random(in: -180...180)
      let price = Double(Int.random(in: 0...10_000_000_000)) / 100
      for value in [bits, decimal, degrees, price, degrees / 1e5, price.nextUp] where value.isFinite
      {
        let text = written { $0.write(value) }
        #expect(Double(text) == value, "\(value) written as \(text)")
        // No longer than what Swift itself finds, but for an exponent it would have used.
        #expect(text.utf8.count <= max("\(value)".utf8.count, 21))
        if (1e-3..<1e9).contains(value.magnitude), value.rounded() != value {
          #expect(text == "\(value)")
        }
      }
    }
  }

  @Test func `values, keys and fragments`() throws {
    let text = #"{"a":[1,"x",null,true,false,{}],"":-1.50}"#
    let value = try JSONParser.parse(Array(text.utf8))
    #expect(written { $0.write(value) } == text)
    #expect(JSONWriter.key("a\"b") == Array(#""a\"b":"#.utf8))
    let result = written {
      $0.append(UInt8(ascii: "{"))
      $0.append(JSONWriter.key("n"))
      $0.writeNull()
      let mark = $0.count
      $0.append(",\"gone\":")
      $0.write(true)
      $0.truncate(to: mark)
      $0.append("}")
      $0.writeString(utf8: Array("b".utf8).span)
    }
    #expect(result == #"{"n":null}"b""#)
  }
}
