import JSON

/// Checks that a parsed text, when written, parses to the same value.
func fuzzJSON(_ bytes: [UInt8]) {
  do throws(JSONError) {
    let value = try JSONParser.parse(bytes)
    let written = value.bytes
    let again = try JSONParser.parse(written)
    expect(
      again.bytes == written, "written anew as \(String(decoding: again.bytes, as: UTF8.self))")
    if case .number(let text) = value, let number = Double(text) { fuzzNumber(number) }
  } catch {
    expect(error.offset >= 0 && error.offset <= bytes.count)
  }
}

private func fuzzNumber(_ number: Double) {
  var writer = JSONWriter()
  writer.write(number)
  let written = String(decoding: writer.finish(), as: UTF8.self)
  expect(number.isFinite ? Double(written) == number : written == "null")
}
