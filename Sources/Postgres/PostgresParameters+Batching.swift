extension PostgresParameters {
  /// Creates the parameters of a batched statement: for each parameter, an array with the value of
  /// each execution. If the values are arrays, it creates one array of all their elements, and two
  /// arrays of each value's bounds, null for a null.
  ///
  /// Returns nil if a value is in text format or is an array of more than one dimension.
  init?(batching executions: [PostgresParameters], as types: [BatchedParameterType]) {
    self.init(reservingBytes: executions.reduce(64 * types.count) { $0 + $1.bytes.count })
    guard executions.allSatisfy({ $0.count == types.count }) else { return nil }
    var readers = executions.map { ParameterReader($0.bytes) }
    for type in types {
      let isDone =
        type.isArray
        ? appendConcatenated(&readers, of: type.type) : appendArray(&readers, of: type.type)
      if !isDone { return nil }
    }
  }

  private mutating func appendArray(
    _ readers: inout [ParameterReader], of type: PostgresType
  ) -> Bool {
    let start = beginArray(of: type)
    for index in readers.indices {
      guard let value = readers[index].next() else { return false }
      appendLength(value?.count ?? -1)
      if let value { appendBytes(readers[index].bytes, value) }
    }
    endArray(at: start, count: readers.count)
    return true
  }

  private mutating func appendConcatenated(
    _ readers: inout [ParameterReader], of type: PostgresType
  ) -> Bool {
    var total: Int32 = 0
    var first: [Int32?] = []
    var last: [Int32?] = []
    let start = beginArray(of: type)
    for index in readers.indices {
      guard let value = readers[index].next() else { return false }
      guard let value else {
        first.append(nil)
        last.append(nil)
        continue
      }
      let source = readers[index].bytes
      guard let (count, elements) = Self.elements(of: value, in: source) else { return false }
      appendBytes(source, elements)
      first.append(total + 1)
      total += count
      last.append(total)
    }
    endArray(at: start, count: Int(total))
    append(array: first)
    append(array: last)
    return true
  }

  /// Returns the number of elements of an array value and their bytes: see `appendArray`.
  private static func elements(
    of value: Range<Int>, in bytes: [UInt8]
  ) -> (count: Int32, Range<Int>)? {
    guard value.count >= 12 else { return nil }
    switch bytes.bigEndianInt32(at: value.lowerBound) {
    case 0: return (0, value.upperBound..<value.upperBound)
    case 1 where value.count >= 20:
      let count = bytes.bigEndianInt32(at: value.lowerBound + 12)
      guard count >= 0, Int(count) <= value.count else { return nil }
      return (count, value.lowerBound + 20..<value.upperBound)
    default: return nil
    }
  }
}

/// Goes through the values of one execution.
private struct ParameterReader {
  let bytes: [UInt8]
  private var offset = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Where the next value stands, nil within for null; nil when there is none in binary format.
  mutating func next() -> Range<Int>?? {
    guard offset + 8 <= bytes.count, bytes.bigEndianInt32(at: offset + 4) == 1 else {
      return nil
    }
    let length = bytes.bigEndianInt32(at: offset)
    let start = offset + 8
    guard length >= 0 else {
      offset = start
      return .some(nil)
    }
    guard Int(length) <= bytes.count - start else { return nil }
    offset = start + Int(length)
    return start..<offset
  }
}
