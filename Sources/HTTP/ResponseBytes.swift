/// The start of a response's head: the part that no single response determines.
struct HTTPAnswerHead {
  private var status = HTTPStatus.ok
  private var contentType: String?
  private var headers: [HTTPField] = []
  private(set) var bytes: [UInt8] = []

  init() {}

  init(
    _ status: HTTPStatus, contentType: String?, headers: [HTTPField], date: [UInt8],
    common: [UInt8]
  ) {
    self.status = status
    self.contentType = contentType
    self.headers = headers
    bytes.append(statusLine: status)
    bytes.append(contentsOf: date)
    if let contentType { bytes.append(field: HTTPField("Content-Type", contentType)) }
    bytes.append(contentsOf: common)
    for field in headers { bytes.append(field: field) }
  }

  func says(_ status: HTTPStatus, contentType: String?, headers: [HTTPField]) -> Bool {
    !bytes.isEmpty && self.status == status && self.contentType == contentType
      && self.headers == headers
  }
}

/// The pieces of a response's header, appended to a buffer.
extension [UInt8] {
  mutating func append(static text: StaticString) {
    text.withUTF8Buffer { unsafe append(contentsOf: $0) }
  }

  mutating func append(statusLine status: HTTPStatus) {
    if status == .ok {
      append(static: "HTTP/1.1 200 OK\r\n")
      return
    }
    append(static: "HTTP/1.1 ")
    append(contentsOf: String(status.code).utf8)
    append(static: " ")
    append(static: status.reason)
    append(static: "\r\n")
  }

  mutating func append(field: HTTPField) {
    append(fieldValue: field.name)
    append(static: ": ")
    append(fieldValue: field.value)
    append(static: "\r\n")
  }

  mutating func append(requestID: String) {
    append(static: "X-Request-Id: ")
    append(fieldValue: requestID)
    append(static: "\r\n")
  }

  /// Appends a value whose control characters become spaces, so that no value can end its line.
  mutating func append(fieldValue text: String) {
    let start = count
    append(contentsOf: text.utf8)
    guard self[start...].contains(where: { $0 < 0x20 || $0 == 0x7F }) else { return }
    for index in start..<count where self[index] < 0x20 || self[index] == 0x7F {
      self[index] = 0x20
    }
  }

  mutating func append(decimal number: Int) {
    var digits = 1
    var rest = number / 10
    while rest > 0 {
      digits += 1
      rest /= 10
    }
    append(contentsOf: repeatElement(0x20, count: digits))
    write(decimal: number, endingAt: count)
  }

  /// Writes a number's digits over the spaces before `end`.
  mutating func write(decimal number: Int, endingAt end: Int) {
    var rest = number
    var index = end
    repeat {
      index -= 1
      self[index] = UInt8(ascii: "0") + UInt8(rest % 10)
      rest /= 10
    } while rest > 0
  }
}
