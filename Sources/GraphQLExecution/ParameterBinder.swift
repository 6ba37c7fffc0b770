import Glibc
import GraphQLLanguage
import GraphQLPlanning
import GraphQLResponse
import GraphQLSchema
import JSON
import Postgres

/// Turns the values of one request into the parameters of its plan's statement.
///
/// It checks what the schema's types leave open: IDs and cursors must decode, and instants and
/// decimals must be valid. Text must not contain U+0000, which PostgreSQL cannot store.
struct ParameterBinder {
  let variables: [InputValue?]
  /// The descriptions of inputs, for errors.
  let inputs: OperationInputs
  let viewer: Int64
  let preferences: RequestPreferences
  let sessionHash: [UInt8]?
  let claims: JSONValue?
  let cursorSigner: CursorSigner
  /// The context of a mutation's field.
  var call: CallContext?
  /// The event of a subscription.
  var event = EventMoment()

  /// - Parameter places: what each parameter was given to, where that is known.
  func bind(
    _ parameters: [PlanParameter], of places: [InputPlace?]
  ) throws(GraphQLError) -> PostgresParameters {
    var result = PostgresParameters(reservingBytes: parameters.count * 24)
    for (index, parameter) in parameters.enumerated() {
      do throws(InputProblem) {
        try append(parameter, to: &result)
      } catch {
        throw self.error(error, parameter, places.indices.contains(index) ? places[index] : nil)
      }
    }
    return result
  }

  private func append(
    _ parameter: PlanParameter, to result: inout PostgresParameters
  ) throws(InputProblem) {
    switch parameter {
    case .viewer: result.append(viewer)
    case .locale: result.append(preferences.locale)
    case .app: result.append(preferences.app)
    case .sessionHash:
      if let sessionHash { result.append(sessionHash) } else { result.appendNull() }
    case .claim(let path):
      if let text = claim(path) { result.append(text) } else { result.appendNull() }
    case .input(let source, let type): try append(source, type, to: &result)
    case .sortKey(let source, let index, let order):
      if let key = try sortKey(source, index, order) {
        result.append(key)
      } else {
        result.appendNull()
      }
    case .sortKeyIsNull(let source, let index, let order):
      result.append(try sortKey(source, index, order) == nil)
    case .keyValue(let source, let place, let count, let type):
      append(keyValue(source, place, count), type, to: &result)
    case .representation(let source, let keys, let part):
      append(part, of: representations(source), keys, to: &result)
    case .rowCount(let count, _): result.append(Int64(count))
    case .call(let parameter): append(parameter, to: &result)
    case .event: result.append(event.node)
    case .told: result.append(event.told)
    case .ended: result.append(event.ended)
    }
  }

  private func error(
    _ problem: InputProblem, _ parameter: PlanParameter, _ place: InputPlace?
  ) -> GraphQLError {
    switch parameter {
    case .input(let source, _), .sortKey(let source, _, _), .sortKeyIsNull(let source, _, _),
      .keyValue(let source, _, _, _), .representation(let source, _, _):
      inputs.error(source, at: problem.path, of: place, problem.message)
    case .viewer, .locale, .app, .sessionHash, .claim, .rowCount, .call, .event, .told, .ended:
      .fault(problem.message)
    }
  }

  /// Returns a claim as text: an object or a list as JSON. Nil for one that is absent or null, or that
  /// PostgreSQL cannot store.
  private func claim(_ path: [String]) -> String? {
    var value = claims
    for step in path { value = value?[step] }
    let text: String
    switch value {
    case nil, .null?: return nil
    case .string(let string)?: text = string
    case .number(let number)?: text = number
    case .boolean(let isTrue)?: text = isTrue ? "true" : "false"
    case .array?, .object?: text = value.map { "\($0)" } ?? ""
    }
    return text.utf8.contains(0) ? nil : text
  }

  private func append(_ parameter: CallParameter, to result: inout PostgresParameters) {
    guard let call else { return result.appendNull() }
    switch parameter {
    case .requestKey: result.append(call.key?.text ?? "")
    case .bodyHash: result.append(call.key?.bodyHash ?? [])
    case .keepsAnswer: result.append(call.key?.isClient ?? false)
    case .flushesLater: result.append(call.flushesLater)
    case .secret: result.append(call.secret)
    case .secretHash: result.append(call.secretHash)
    case .sessionHash:
      if let hash = call.client.sessionHash { result.append(hash) } else { result.appendNull() }
    case .device:
      if let device = call.client.device { result.append(device) } else { result.appendNull() }
    case .prepared(let value): append(call.prepared(value), to: &result)
    }
  }

  private func append(_ value: PreparedInputValue?, to result: inout PostgresParameters) {
    switch value {
    case nil: result.appendNull()
    case .text(let text): result.append(text)
    case .json(let text): result.append(inTextFormat: text)
    case .bytes(let bytes): result.append(bytes)
    }
  }

  func value(of source: InputSource) -> InputValue { source.value(in: variables) }

  private func sortKey(_ source: InputSource, _ index: Int, _ order: UInt32)
    throws(InputProblem) -> [UInt8]?
  {
    guard case .string(let text) = value(of: source),
      let cursor = Cursor(text, order: order, signer: cursorSigner), index < cursor.keys.count
    else { throw refusal("The cursor is not one of this list and order.") }
    return cursor.keys[index]
  }

  /// Returns a value of the key in an ID; nil if the ID has no key of so many columns.
  private func keyValue(_ source: InputSource, _ place: Int, _ count: Int) -> String? {
    guard case .string(let text) = value(of: source), let values = KeyID(text)?.values(count)
    else { return nil }
    return values[place]
  }

  /// Appends a value of a key; null for one that is none of its type, as no row has it.
  private func append(
    _ value: String?, _ type: ParameterType?, to result: inout PostgresParameters
  ) {
    guard let value else { return result.appendNull() }
    if let type, !type.isKeyText(value) { return result.appendNull() }
    switch type {
    case .int4?:
      if let number = Int32(value) { result.append(number) } else { result.appendNull() }
    case .named(let name)?: Self.append(literal: value, of: name, to: &result)
    default: result.append(inTextFormat: value)
    }
  }

  // MARK: - Representations

  private func representations(_ source: InputSource) -> [InputValue] {
    if case .list(let items) = value(of: source) { items } else { [] }
  }

  private func append(
    _ part: RepresentationPart, of representations: [InputValue], _ keys: EntityKeys,
    to result: inout PostgresParameters
  ) {
    switch part {
    case .kind:
      result.append(array: kinds(of: representations, keys).map { Int32(clamping: $0 ?? -1) })
    case .value(let key, let column):
      result.append(inTextFormat: arrayLiteral(texts(of: representations, keys, key, column)))
    }
  }

  private func kinds(of representations: [InputValue], _ keys: EntityKeys) -> [Int?] {
    representations.map { keys.place(of: $0) }
  }

  private func texts(
    of representations: [InputValue], _ keys: EntityKeys, _ key: Int, _ column: Int
  ) -> [String?] {
    representations.map { representation in
      keys.place(of: representation) == key
        ? keys.keys[key].text(ofColumn: column, in: representation) : nil
    }
  }

  func append(
    _ source: InputSource, _ type: ParameterType, to parameters: inout PostgresParameters
  ) throws(InputProblem) {
    let value = value(of: source)
    if case .null = value { return parameters.appendNull() }
    switch type {
    case .id: parameters.append(try id(value))
    case .anyID: parameters.append(anyID(value))
    case .json(let form): parameters.append(inTextFormat: try json(value, form))
    case .int4:
      guard case .int(let number) = value else { throw mismatch(value, "an integer") }
      parameters.append(number)
    case .float8: parameters.append(try float(value))
    case .boolean: parameters.append(try boolean(value))
    case .text: parameters.append(try text(value))
    case .pattern: parameters.append(try pattern(value))
    case .timestamptz: parameters.append(timestamp: try timestamp(value))
    case .instant: parameters.append(timestamp: try instant(value))
    case .date: parameters.append(date: try date(value))
    case .numeric: parameters.append(inTextFormat: try decimal(value))
    case .named(let name):
      Self.append(literal: try literal(value), of: name, to: &parameters)
    case .document("jsonb"):
      // A version, and the text.
      parameters.append([1] + Array(try document(value).utf8))
    case .document: parameters.append(inTextFormat: try document(value))
    case .array(let element): try append(array: value, of: element, to: &parameters)
    }
  }

  private func append(
    array value: InputValue, of element: ParameterType, to parameters: inout PostgresParameters
  ) throws(InputProblem) {
    let items: [InputValue]
    if case .list(let list) = value { items = list } else { items = [value] }
    switch element {
    case .id: parameters.append(array: try map(items, id))
    case .anyID:
      parameters.append(
        array: items.map { if case .null = $0 { nil } else { anyID($0) } } as [Int64?])
    case .int4:
      parameters.append(
        array: try map(items) { item throws(InputProblem) -> Int32 in
          guard case .int(let number) = item else { throw mismatch(item, "an integer") }
          return number
        })
    case .float8: parameters.append(array: try map(items, float))
    case .boolean: parameters.append(array: try map(items, boolean))
    case .text: parameters.append(array: try map(items, text))
    case .pattern: parameters.append(array: try map(items, pattern))
    case .timestamptz: parameters.append(timestampArray: try map(items, timestamp))
    case .instant: parameters.append(timestampArray: try map(items, instant))
    case .date: parameters.append(dateArray: try map(items, date))
    case .named("int8") where items.allSatisfy { $0.isInteger }:
      let numbers = try map(items, literal)
      parameters.append(array: numbers.map { $0.flatMap { Int64($0) } })
    case .named, .document:
      let texts = try map(items) { item throws(InputProblem) in try text(of: item, element) ?? "" }
      parameters.append(inTextFormat: arrayLiteral(texts))
    case .numeric:
      let texts = try map(items, decimal).map { $0 ?? "NULL" }
      parameters.append(inTextFormat: "{\(texts.joined(separator: ","))}")
    case .json, .array: throw mismatch(value, "a list that can be stored")
    }
  }

  /// Appends a value in binary format where that is simple, because values in text format keep
  /// executions from being batched; otherwise as its text, which PostgreSQL reads.
  private static func append(
    literal text: String, of type: String, to parameters: inout PostgresParameters
  ) {
    switch type {
    case "int8":
      if let number = Int64(text) { return parameters.append(number) }
    case "uuid":
      if let bytes = uuid(text) { return parameters.append(bytes) }
    default: break
    }
    parameters.append(inTextFormat: text)
  }

  /// Returns the 16 bytes of a UUID in its usual form of 36 characters.
  private static func uuid(_ text: String) -> [UInt8]? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(16)
    var high: UInt8?
    for (place, character) in text.utf8.enumerated() {
      switch place {
      case 8, 13, 18, 23:
        guard character == UInt8(ascii: "-") else { return nil }
        continue
      default: break
      }
      guard place < 36, let digit = Character(UnicodeScalar(character)).hexDigitValue else {
        return nil
      }
      if let first = high {
        bytes.append(first << 4 | UInt8(digit))
        high = nil
      } else {
        high = UInt8(digit)
      }
    }
    return bytes.count == 16 && high == nil ? bytes : nil
  }

  private func map<Value>(
    _ items: [InputValue], _ convert: (InputValue) throws(InputProblem) -> Value
  ) throws(InputProblem) -> [Value?] {
    var result: [Value?] = []
    result.reserveCapacity(items.count)
    for (index, item) in items.enumerated() {
      if case .null = item {
        result.append(nil)
        continue
      }
      do throws(InputProblem) {
        result.append(try convert(item))
      } catch {
        throw error.inside(.index(index))
      }
    }
    return result
  }

  // MARK: - For people

  /// The values as `psql` or `pgbench` would be given them; nil for null and for keys inside cursors.
  func texts(
    of parameters: [PlanParameter], _ places: [InputPlace?]
  ) throws(GraphQLError) -> [String?] {
    var texts: [String?] = []
    for (index, parameter) in parameters.enumerated() {
      do throws(InputProblem) {
        texts.append(try text(of: parameter))
      } catch {
        throw self.error(error, parameter, places.indices.contains(index) ? places[index] : nil)
      }
    }
    return texts
  }

  private func text(of parameter: PlanParameter) throws(InputProblem) -> String? {
    switch parameter {
    case .viewer: return String(viewer)
    case .locale: return preferences.locale
    case .app: return preferences.app
    case .claim(let path): return claim(path)
    case .event: return String(event.node)
    case .told: return String(event.told)
    case .ended: return String(event.ended)
    case .rowCount(let count, _): return String(count)
    case .keyValue(let source, let place, let count, _): return keyValue(source, place, count)
    case .representation(let source, let keys, let part):
      switch part {
      case .kind:
        return arrayLiteral(kinds(of: representations(source), keys).map { "\($0 ?? -1)" })
      case .value(let key, let column):
        return arrayLiteral(texts(of: representations(source), keys, key, column))
      }
    case .sortKey, .sortKeyIsNull, .call, .sessionHash: return nil
    case .input(let source, let type): return try text(of: value(of: source), type)
    }
  }

  func text(of value: InputValue, _ type: ParameterType) throws(InputProblem) -> String? {
    if case .null = value { return nil }
    switch type {
    case .id: return String(try id(value))
    case .anyID: return String(anyID(value))
    case .json(let form): return try json(value, form)
    case .float8: return "\(try float(value))"
    case .boolean: return try boolean(value) ? "true" : "false"
    case .int4, .text, .timestamptz, .instant, .date, .numeric: return try text(value)
    case .pattern: return try pattern(value)
    case .named: return try literal(value)
    case .document: return try document(value)
    case .array(let element):
      guard case .list(let items) = value else {
        return "{\(try text(of: value, element) ?? "NULL")}"
      }
      return arrayLiteral(
        try items.map { item throws(InputProblem) in try text(of: item, element) })
    }
  }

  private func arrayLiteral(_ texts: [String?]) -> String {
    let items = texts.map { text in
      text.map { "\"" + $0.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\"" }
        ?? "NULL"
    }
    return "{\(items.joined(separator: ","))}"
  }

  // MARK: - Values

  private func id(_ value: InputValue) throws(InputProblem) -> Int64 {
    guard case .string(let text) = value else { throw mismatch(value, "an id") }
    // What is no id finds nothing, like the id of what is not there.
    return NodeID.decode(text) ?? 0
  }

  func anyID(_ value: InputValue) -> Int64 {
    if case .string(let text) = value { NodeID.decode(text) ?? 0 } else { 0 }
  }

  private func float(_ value: InputValue) throws(InputProblem) -> Double {
    switch value {
    case .float(let number): return number
    case .int(let number): return Double(number)
    case .bigInt(let number): return Double(number)
    case .null, .boolean, .number, .string, .enum, .list, .object:
      throw mismatch(value, "a number")
    }
  }

  private func boolean(_ value: InputValue) throws(InputProblem) -> Bool {
    guard case .boolean(let flag) = value else { throw mismatch(value, "true or false") }
    return flag
  }

  func text(_ value: InputValue) throws(InputProblem) -> String {
    switch value {
    case .string(let text):
      guard !Self.hasNull(text) else {
        throw refusal("Text must not contain the character U+0000.")
      }
      return text
    case .enum(let name): return name
    case .int(let number): return String(number)
    case .bigInt(let number): return String(number)
    case .null, .boolean, .float, .number, .list, .object: throw mismatch(value, "a text")
    }
  }

  /// A pattern of `LIKE`. PostgreSQL refuses one that ends with an escape character, but only when a
  /// text matches what is before it.
  private func pattern(_ value: InputValue) throws(InputProblem) -> String {
    let text = try text(value)
    var escapes = 0
    for byte in text.utf8.reversed() {
      guard byte == UInt8(ascii: "\\") else { break }
      escapes += 1
    }
    guard escapes % 2 == 0 else {
      throw refusal("\(value.shown) ends with a backslash that escapes nothing; write two for one.")
    }
    return text
  }

  /// The value of a type that PostgreSQL reads from its text.
  func literal(_ value: InputValue) throws(InputProblem) -> String {
    switch value {
    case .float(let number): return "\(number)"
    case .number(let number): return number
    case .null, .boolean, .int, .bigInt, .string, .enum, .list, .object: return try text(value)
    }
  }

  /// Recursion is as deep as the request's JSON or document, which is limited.
  func document(_ value: InputValue) throws(InputProblem) -> String {
    var json = JSONWriter(capacity: 256)
    try write(document: value, to: &json)
    return String(decoding: json.finish(), as: UTF8.self)
  }

  static let instant = "an instant such as \"2026-05-01T18:30:00.000Z\""

  func timestamp(_ value: InputValue) throws(InputProblem) -> Int64 {
    guard case .string(let text) = value, let instant = Timestamp.microseconds(text) else {
      throw mismatch(value, Self.instant)
    }
    return instant
  }

  /// With its microseconds.
  func instant(_ value: InputValue) throws(InputProblem) -> Int64 {
    guard case .string(let text) = value,
      let instant = Timestamp.microseconds(text, isExact: true)
    else { throw mismatch(value, Self.instant) }
    return instant
  }

  func date(_ value: InputValue) throws(InputProblem) -> Int32 {
    guard case .string(let text) = value, let day = Timestamp.days(text) else {
      throw mismatch(value, "a day such as \"2026-05-01\"")
    }
    return day
  }

  /// The longest exponent of a number in a JSON document, and the digits that it can lead to.
  private static let maximumExponent = 500

  /// Checks that a number in a document takes not much more room in the database than in the request:
  /// `jsonb` writes 1e400 as 401 digits.
  func check(number text: String) throws(InputProblem) {
    guard let mark = text.utf8.firstIndex(where: { $0 | 0x20 == UInt8(ascii: "e") }) else { return }
    let digits = text[text.index(after: mark)...].drop { $0 == "+" || $0 == "-" }
    guard let exponent = Int(digits), exponent <= Self.maximumExponent else {
      throw refusal(
        "\(text.prefix(40)) has an exponent that is not between -\(Self.maximumExponent) and "
          + "\(Self.maximumExponent).")
    }
  }

  func decimal(_ value: InputValue) throws(InputProblem) -> String {
    guard case .string(let text) = value, text.utf8.count <= 40,
      text.wholeMatch(of: /-?[0-9]+(\.[0-9]+)?/) != nil
    else { throw mismatch(value, "a decimal such as \"129.90\"") }
    return text
  }

  func mismatch(_ value: InputValue, _ expected: String) -> InputProblem {
    refusal("\(value.shown) is not \(expected).")
  }

  private static func hasNull(_ text: String) -> Bool {
    var text = text
    return text.withUTF8 { utf8 in
      guard let start = utf8.baseAddress else { return false }
      return unsafe memchr(start, 0, utf8.count) != nil
    }
  }

  private func refusal(_ message: String) -> InputProblem { InputProblem(message: message) }
}

/// Why a value cannot be a parameter.
struct InputProblem: Error {
  /// The path of the invalid value inside of the parameter's value.
  var path: [PathSegment] = []
  let message: String

  func inside(_ step: PathSegment) -> InputProblem {
    InputProblem(path: [step] + path, message: message)
  }
}

extension InputValue {
  /// Whether it is null, or an integer of 64 bits or the text of one.
  fileprivate var isInteger: Bool {
    switch self {
    case .null, .int, .bigInt: true
    case .number(let text), .string(let text): Int64(text) != nil
    case .boolean, .float, .enum, .list, .object: false
    }
  }
}
