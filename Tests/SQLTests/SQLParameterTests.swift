import Testing

@testable import SQL

@Suite struct SQLParameterTests {
  @Test(arguments: [
    ("SELECT 1", ""),
    ("$1::bigint + $12::int4", "1 bigint, 12 int4"),
    ("= ANY ($2::text[])", "2 text[]"),
    ("($1, $1::float8)", "1 -, 1 float8"),
    ("'$1' || $2::text || 'it''s $3' || $4", "2 text, 4 -"),
    ("$0 $ $x 3$", ""),
    ("$1::", "1 -"),
    ("$1::\"char\"", "1 -"),
    ("$99999999999999999999::text", "9999999 -"),
  ])
  func `parameters are found with their casts`(text: String, expected: String) {
    let mentions = SQLParameter.mentions(in: text)
    #expect(mentions.map { "\($0.number) \($0.cast ?? "-")" }.joined(separator: ", ") == expected)
    for mention in mentions {
      #expect(Array(text.utf8)[mention.range].first == UInt8(ascii: "$"))
    }
  }
}
