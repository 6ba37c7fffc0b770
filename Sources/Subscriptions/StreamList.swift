/// The streams under one topic or dependency, without duplicates and in an order that depends only on the calls.
///
/// - Complexity: O(1) for each call. A list of up to 16 streams is searched and needs no dictionary.
struct StreamList {
  private(set) var ids: [StreamID] = []
  private var places: [StreamID: Int] = [:]

  private static let searched = 16

  var isEmpty: Bool { ids.isEmpty }
  var count: Int { ids.count }

  func contains(_ id: StreamID) -> Bool {
    ids.count <= Self.searched ? ids.contains(id) : places[id] != nil
  }

  mutating func insert(_ id: StreamID) {
    guard !contains(id) else { return }
    ids.append(id)
    if ids.count == Self.searched + 1 {
      for (place, id) in ids.enumerated() { places[id] = place }
    } else if ids.count > Self.searched {
      places[id] = ids.count - 1
    }
  }

  mutating func remove(_ id: StreamID) {
    let isSearched = ids.count <= Self.searched
    guard let place = isSearched ? ids.firstIndex(of: id) : places[id] else { return }
    let last = ids.removeLast()
    if place < ids.count { ids[place] = last }
    guard !isSearched else { return }
    if ids.count <= Self.searched {
      places = [:]
    } else {
      places[id] = nil
      if place < ids.count { places[last] = place }
    }
  }
}
