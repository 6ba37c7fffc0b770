import GraphQLLanguage

/// The limits of a client's document, and those of a file.
private let allLimits = [
  ParserLimits.default,
  ParserLimits(maximumBytes: .max, maximumTokens: .max, maximumNesting: 200),
]

/// Checks that a parsed text, when printed, parses to the same document.
func fuzzParser(_ bytes: [UInt8]) {
  let source = Source(bytes)
  for limits in allLimits {
    do throws(SyntaxError) {
      let document = try Parser.parse(source, limits: limits)
      let printed = Printer.print(document)
      if !hasShorthandBehindOthers(document) { expectSame(printed) }
    } catch {
      check(error, in: source)
    }
  }
}

/// As in graphql-js, `type A query { b }` is printed with the braces alone, which then are those of
/// the type.
private func hasShorthandBehindOthers(_ document: Document) -> Bool {
  document.definitions.dropFirst().contains { definition in
    guard case .operation(let operation) = definition else { return false }
    return operation.kind == .query && operation.description == nil && operation.name == nil
      && operation.variables.isEmpty && operation.directives.isEmpty
  }
}

private func expectSame(_ printed: String) {
  do throws(SyntaxError) {
    let again = Printer.print(try Parser.parse(Source(printed), limits: allLimits[1]))
    expect(again.utf8.elementsEqual(printed.utf8), "printed anew as \(again)")
  } catch {
    fatalError("printed \(printed), which does not parse: \(error.message)")
  }
}

private func check(_ error: SyntaxError, in source: Source) {
  expect(!error.message.isEmpty)
  let location = error.location
  expect(location.line >= 1 && location.column >= 1)
  expect(location.line <= source.bytes.count + 1)
  expect(location.column <= source.bytes.count + 1)
}

/// Values, types and schema coordinates on their own.
func fuzzValues(_ bytes: [UInt8]) {
  let source = Source(bytes)
  do throws(SyntaxError) {
    let printed = Printer.print(try Parser.parseValue(source))
    let again = Printer.print(try Parser.parseValue(Source(printed), limits: .unlimited))
    expect(again.utf8.elementsEqual(printed.utf8), "printed anew as \(again)")
  } catch {
    check(error, in: source)
  }
  do throws(SyntaxError) {
    let printed = Printer.print(try Parser.parseType(source))
    let again = Printer.print(try Parser.parseType(Source(printed)))
    expect(again == printed)
  } catch {
    check(error, in: source)
  }
  do throws(SyntaxError) {
    let coordinate = try SchemaCoordinate.parse(source)
    expect(Array(coordinate.description.utf8) == bytes)
  } catch {
    check(error, in: source)
  }
}
