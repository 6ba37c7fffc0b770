import JSON

/// A run that was written to a file, as far as a comparison needs it.
package struct SavedRun: Sendable {
  private let value: JSONValue

  package init(_ bytes: [UInt8]) throws(LoadInputError) {
    do {
      value = try JSONParser.parse(bytes)
    } catch {
      throw LoadInputError("it is not JSON: \(error)")
    }
    guard value["format"]?.text == "sociograph-load/1" else {
      throw LoadInputError("it is no result of sociograph load, whose format is sociograph-load/1.")
    }
  }

  /// Why the run is void; empty if it is valid.
  package var faults: [String] {
    if value["validity"]?["valid"]?.boolean == true {
      return value["complete"]?.boolean == true ? [] : ["it was interrupted"]
    }
    let reasons = (value["validity"]?["reasons"]?.elements ?? []).compactMap(\.text)
    return reasons.isEmpty ? ["it is void"] : reasons
  }

  package var names: [String] {
    (value["operations"]?.elements ?? []).compactMap { $0["name"]?.text }
  }

  /// Returns the options that differ between two runs, and so may explain a difference.
  package func differences(_ other: SavedRun) -> [String] {
    let options = ["rate", "arrivals", "duration", "connections", "seed", "timeout"]
    return options.filter { value["settings"]?[$0] != other.value["settings"]?[$0] }
  }

  package func blocks(_ name: String) -> [Comparison.Block] {
    (value["blocks"]?.elements ?? []).map { block in
      let figures = block["operations"]?[name]
      return Comparison.Block(
        count: Int(figures?["count"]?.double ?? 0),
        p50: figures?["p50_ms"]?.double.map { $0 * 1e6 },
        p99: figures?["p99_ms"]?.double.map { $0 * 1e6 })
    }
  }

  package func whole(_ name: String) -> [Double?] {
    let operation = (value["operations"]?.elements ?? []).first { $0["name"]?.text == name }
    return ["p50", "p99"].map { operation?["latency_ms"]?[$0]?.double.map { $0 * 1e6 } }
  }

  /// Compares two saved runs.
  ///
  /// - Throws: an error if they have no operation in common, so that nothing can be compared.
  package static func compare(_ a: SavedRun, _ b: SavedRun) throws(LoadInputError) -> Comparison {
    guard a.names.contains(where: b.names.contains) else {
      func list(_ run: SavedRun) -> String {
        run.names.isEmpty ? "none" : run.names.prefix(3).joined(separator: ", ")
      }
      throw LoadInputError(
        "the runs have no operation in common: the first one has \(list(a)), the second one \(list(b))."
      )
    }
    let names = a.names + b.names.filter { !a.names.contains($0) }
    var comparison = Comparison(
      names.map { name in
        Comparison.Subject(
          name: name, a: a.blocks(name), b: b.blocks(name), wholeA: a.whole(name),
          wholeB: b.whole(name))
      }, method: .welchBlocks)
    comparison.faults =
      a.faults.map { "the first run: \($0)" } + b.faults.map { "the second run: \($0)" }
    return comparison
  }
}
