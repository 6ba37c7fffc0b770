import SQL

/// Checks that any text is refused or is part of a statement. In the latter case it stays unchanged
/// when parsed again, has the same pieces, and does not absorb text after it.
func fuzzTemplates(_ bytes: [UInt8]) {
  let text = String(decoding: bytes, as: UTF8.self)
  guard let template = try? SQLTemplate(text) else { return }
  expect((try? SQLTemplate(template.source))?.pieces == template.pieces)
  let around = try? SQLTemplate("(\(rendered(template)) + :behind)")
  expect(around?.variables.last == ["behind"])
  if let keys = try? SQLSortKey.list(text) { expect(keys.count <= bytes.count + 1) }
}

/// The text with its variables, as a statement has it.
private func rendered(_ template: SQLTemplate) -> String {
  template.pieces.map { piece in
    switch piece {
    case .text(let text), .verbatim(let text), .qualifier(let text): text
    case .variable(let path, let isSplice):
      ":" + path.joined(separator: ".") + (isSplice ? "..." : "")
    }
  }.joined()
}
