import Foundation
import Testing

@testable import Load

@Suite struct ReportTests {
  private func measured(_ count: Int, seconds: Int64, latency: (Int) -> Int64) -> LoadMeasurement {
    var window = WindowResult()
    window.duration = seconds * 1_000_000_000
    var sums = SplitSums()
    for index in 0..<count {
      let intended = window.duration / Int64(count) * Int64(index)
      var sample = Sample(operation: 0, intended: intended, takenUp: intended)
      sample.sent = sample.takenUp
      sample.done = sample.sent + latency(index)
      sample.firstByte = sample.done
      sample.outcome = index % 100 == 7 ? .http : .ok
      window.samples.append(sample)
      sums.add(sample, total: 1, parts: [(0, 0.5)])
      let second = Int(intended / 1_000_000_000)
      while window.secondSplits.count <= second { window.secondSplits.append(SplitSums()) }
      window.secondSplits[second].add(sample, total: 1, parts: [(0, 0.5)])
    }
    window.partNames = ["postgresql"]
    window.splits = [sums]
    let operation = Mix.Operation(
      name: "Feed<script>", kind: .query, document: "", documentID: nil)
    return LoadMeasurement(window, operations: [operation])
  }

  private func result(_ change: (inout LoadResult) -> Void = { _ in }) -> LoadResult {
    var result = LoadResult(
      program: "sociograph", started: "2026-01-01T00:00:00Z", seed: 42, kind: .rate,
      url: "http://localhost/<b>",
      settings: [
        ("mix", "mixes/demo"), ("rate", "10"), ("seed", "42"), ("slo", "p99<1s it's"),
        ("writes", "true"),
      ])
    result.measured = measured(30_000, seconds: 1800) { Int64($0 % 977 + 1) * 1_000_000 }
    change(&result)
    return result
  }

  private func ids(_ html: String) -> [String] {
    html.matches(of: /<section id="([a-z]+)"/).map { String($0.1) }
  }

  @Test func `a report is one small page without a script, and loads nothing`() throws {
    let html = LoadReport(result(), verdict: "met").html
    #expect(html.utf8.count < 500_000)
    #expect(
      html.contains(
        #"<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">"#
      ))
    #expect(
      ids(html) == ["summary", "rate", "time", "percentiles", "split", "operations", "settings"])
    for word in ["<script", "src=", "href=", "url(", "@import", "<img", "<link"] {
      #expect(!html.lowercased().contains(word), "\(word)")
    }
    #expect(html.contains("Feed&lt;script&gt;") && html.contains("localhost/&lt;b&gt;"))
    // Each picture has its text.
    let pictures = html.matches(of: /<svg [^>]*role="img" aria-label="[^"]+"/)
    #expect(pictures.count == html.matches(of: #/<svg /#).count && pictures.count >= 5)
    #expect(
      html.contains(
        "sociograph load mixes/demo --rate 10 --seed 42 --slo &#39;p99&lt;1s it&#39;\\&#39;&#39;s&#39; --writes"
      ))
    // 1,800 seconds are thinned to 500 points.
    for match in html.matches(of: /points="([^"]+)"/) {
      #expect(match.1.split(separator: " ").count <= 1000)
    }
    for match in html.matches(of: /<polyline[^>]*points="([^"]+)"/) {
      #expect(match.1.split(separator: " ").count <= 500)
    }
  }

  @Test func `a report is well-formed, so that a browser shows what was meant`() throws {
    let html = LoadReport(result(), verdict: nil).html
    var open: [String] = []
    let body = try #require(html.split(separator: "<body>").last)
    for match in body.matches(of: #/<(/?)([a-z0-9]+)([^>]*)>/#) {
      if match.1 == "/" {
        // The page's own end tags close what was opened before.
        if !["body", "html"].contains(match.2) { #expect(open.popLast() == String(match.2)) }
      } else if !match.3.hasSuffix("/") {
        open.append(String(match.2))
      }
    }
    #expect(open.isEmpty)
  }

  @Test func `a report says void and why, and what was interrupted`() {
    let html = LoadReport(
      result {
        $0.otherFaults = ["the generator slept"]
        $0.isComplete = false
      }, verdict: nil
    ).html
    #expect(html.contains("VOID") && html.contains("the generator slept"))
    #expect(html.contains("Interrupted."))
    #expect(!LoadReport(result(), verdict: nil).html.contains("VOID"))
    let empty = LoadReport(result { $0.measured = nil }, verdict: nil).html
    #expect(ids(empty).count == 7)
  }

  @Test func `a knee is marked, and each step is in the table`() {
    var search = KneeSearch(rates: 10...1000, precision: 0.025)
    search.record(100, met: true)
    search.record(200, met: false)
    let html = LoadReport(
      result { result in
        result.search = search
        result.steps = [
          KneeStep(rate: 100, misses: [], measured: measured(100, seconds: 1) { _ in 1_000_000 }),
          KneeStep(
            rate: 200, misses: ["p99<100ms: 400 ms"],
            measured: measured(200, seconds: 1) { _ in 400_000_000 }),
        ]
        result.limit = KneeLimit(resource: "connections", evidence: "wait grew")
      }, verdict: nil
    ).html
    #expect(html.contains(">knee</text>") && html.contains("p99&lt;100ms: 400 ms"))
    #expect(html.contains("limit: connections (wait grew)"))
  }

  @Test func `a void step is void in the table, the objective is a line, and answers have a chart`()
    throws
  {
    var search = KneeSearch(rates: 10...1000, precision: 0.025)
    search.record(100, met: true)
    search.record(200, met: false)
    var late = WindowResult()
    late.duration = 1_000_000_000
    for index in 0..<100 {
      var sample = Sample(
        operation: 0, intended: Int64(index) * 10_000_000,
        takenUp: Int64(index) * 10_000_000 + 50_000_000)
      sample.sent = sample.takenUp
      sample.done = sample.sent + 1_000_000
      sample.outcome = .ok
      late.samples.append(sample)
    }
    let feed = Mix.Operation(name: "Feed", kind: .query, document: "", documentID: nil)
    let html = LoadReport(
      result { result in
        result.search = search
        result.steps = [
          KneeStep(rate: 100, misses: [], measured: measured(100, seconds: 1) { _ in 1_000_000 }),
          KneeStep(
            rate: 150, misses: [], measured: LoadMeasurement(late, operations: [feed])),
        ]
      }, verdict: nil, objective: try Objective("p99<100ms errors<1% Feed:p50<5ms")
    ).html
    #expect(html.contains("<td>VOID</td>") && html.contains("at 150.0/s: void"))
    // In both charts of latency; those of one operation and of errors are no line of theirs.
    #expect(html.matches(of: #/>objective p99&lt;100ms<\/text>/#).count == 2)
    #expect(!html.contains("objective Feed") && !html.contains("objective errors"))
    #expect(html.contains("<title>Requests by second</title>"))
    #expect(!LoadReport(result(), verdict: nil).html.contains("objective p99"))
  }

  @Test func `PostgreSQL's view adds waits and statements`() {
    var found = PostgresFindings()
    found.sampleCount = 20
    found.waits = [
      PostgresFindings.Wait(type: "IO", event: "DataFileRead", samples: 9, bySecond: [4, 0, 5]),
      // Seen in the first second only.
      PostgresFindings.Wait(type: "LWLock", event: "WALWrite", samples: 1, bySecond: [1]),
    ]
    found.checkpointSeconds = [1]
    found.statements = [
      PostgresFindings.Statement(
        name: "query Feed s_1", calls: 10, milliseconds: 50, rows: 10, hits: 5, reads: 2,
        walBytes: 0,
        text: "")
    ]
    let html = LoadReport(result { $0.postgresql = found }, verdict: nil).html
    #expect(ids(html).suffix(2) == ["waits", "statements"])
    #expect(html.contains("IO/DataFileRead") && html.contains("query Feed s_1"))
  }

  @Test func `thinned points keep the highest of each group`() {
    let points = (0..<5000).map { (x: Double($0), y: $0 == 1234 ? 9.0 : 1) }
    let thinned = Chart.thinned(points)
    #expect(thinned.count == 500 && thinned.contains { $0.x == 1234 && $0.y == 9 })
  }

  @Test func `a comparison is a page as well`() {
    let html = LoadReport.html(
      Comparison([], method: .pairedBlocks), program: "sociograph", started: "now", settings: [])
    #expect(ids(html) == ["summary", "operations", "settings"] && html.contains("unsure"))
  }
}
