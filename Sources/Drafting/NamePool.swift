/// Names in use, each given out once.
struct NamePool {
  private var taken: Set<String>

  init(reserved: Set<String> = []) { taken = reserved }

  func isFree(_ name: String) -> Bool { !taken.contains(name) }

  mutating func reserve(_ name: String) { taken.insert(name) }

  /// Returns the first candidate that is free, or else the last one with a number.
  mutating func take(_ candidates: [String]) -> String {
    if let free = candidates.first(where: isFree) {
      taken.insert(free)
      return free
    }
    let stem = candidates.last ?? "unnamed"
    var number = 2
    while taken.contains("\(stem)\(number)") { number += 1 }
    taken.insert("\(stem)\(number)")
    return "\(stem)\(number)"
  }
}
