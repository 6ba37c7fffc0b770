import Glibc

/// A picture as SVG, with a text for readers who do not see it.
struct Chart {
  enum Scale { case linear, logarithmic }

  struct Line {
    let name: String
    /// The place of its color in the palette of the page.
    let color: Int
    let points: [(x: Double, y: Double)]
    var showsPoints = false
  }

  let title: String
  /// The text in place of the picture.
  let description: String
  let xLabel: String
  let yLabel: String
  var xScale = Scale.linear
  var yScale = Scale.linear
  var lines: [Line] = []
  /// Whether the lines are areas, each on top of the one before.
  var isStacked = false
  /// Vertical marks, with their texts.
  var marks: [(x: Double, text: String)] = []
  /// Horizontal marks, with their texts.
  var levels: [(y: Double, text: String)] = []

  private static let width = 480.0
  private static let height = 248.0
  private static let left = 52.0
  private static let right = 10.0
  private static let top = 12.0
  private static let bottom = 40.0
  /// The maximum number of points of a line.
  static let maximumPoints = 500

  /// Thins the points of a line: of each group, the highest remains.
  static func thinned(_ points: [(x: Double, y: Double)]) -> [(x: Double, y: Double)] {
    guard points.count > maximumPoints else { return points }
    return (0..<maximumPoints).compactMap { group in
      let start = points.count * group / maximumPoints
      let end = points.count * (group + 1) / maximumPoints
      return points[start..<end].max { $0.y < $1.y }
    }
  }

  // MARK: Axes

  private struct Axis {
    let low: Double
    let high: Double
    let scale: Scale
    let start: Double
    let length: Double

    /// Returns the place of a value in the picture.
    func place(_ value: Double) -> Double {
      let share: Double
      switch scale {
      case .linear: share = (value - low) / (high - low)
      case .logarithmic: share = log(max(value, low) / low) / log(high / low)
      }
      return start + length * share
    }

    var ticks: [Double] {
      switch scale {
      case .linear:
        let rough = (high - low) / 5
        let power = pow(10, floor(log10(rough)))
        let step = [1, 2, 5, 10].map { $0 * power }.first { $0 >= rough } ?? rough
        var ticks: [Double] = []
        var tick = (low / step).rounded(.up) * step
        while tick <= high * 1.0001, ticks.count < 20 {
          ticks.append(tick)
          tick += step
        }
        return ticks
      case .logarithmic:
        var ticks: [Double] = []
        let isWide = high / low > 1000
        var power = pow(10, floor(log10(low)))
        while power <= high * 1.0001, ticks.count < 30 {
          for factor in isWide ? [1.0] : [1, 2, 5] {
            let tick = power * factor
            if tick >= low * 0.9999, tick <= high * 1.0001 { ticks.append(tick) }
          }
          power *= 10
        }
        return ticks
      }
    }
  }

  private static func number(_ value: Double) -> String {
    if value >= 10_000, value.truncatingRemainder(dividingBy: 1000) == 0 {
      return LoadTime.decimal(value / 1000, 0) + "k"
    }
    var decimals = 0
    var scaled = value
    while decimals < 4, abs(scaled - scaled.rounded()) > 1e-6 {
      scaled *= 10
      decimals += 1
    }
    return LoadTime.decimal(value, decimals)
  }

  private static func place(_ value: Double) -> String { LoadTime.decimal(value, 1) }

  // MARK: SVG

  /// The picture; a sentence where there is nothing to show.
  var svg: String {
    let lines = lines.map { line in
      Line(
        name: line.name, color: line.color,
        points: Self.thinned(
          line.points.filter { point in
            point.x.isFinite && point.y.isFinite && (xScale == .linear || point.x > 0)
              && (yScale == .linear || point.y > 0)
          }), showsPoints: line.showsPoints)
    }
    let sums = isStacked ? Self.stacked(lines) : lines.map(\.points)
    let all = sums.flatMap(\.self)
    guard let first = all.first else { return "<p>\(HTML.text(title)): no data.</p>\n" }
    let xs = all.map(\.x) + marks.map(\.x)
    let levels = levels.filter { yScale == .linear || $0.y > 0 }
    let ys = all.map(\.y) + levels.map(\.y)
    let x = Self.axis(
      xs.min() ?? first.x, xs.max() ?? first.x, xScale, Self.left,
      Self.width - Self.left - Self.right)
    let y = Self.axis(
      yScale == .linear ? 0 : ys.min() ?? first.y, ys.max() ?? first.y, yScale,
      Self.height - Self.bottom, -(Self.height - Self.top - Self.bottom))
    var parts = [
      "<figure><figcaption>\(HTML.text(title)), \(HTML.text(yLabel))</figcaption>\(Self.legend(lines))"
        + "<svg viewBox=\"0 0 480 248\" role=\"img\" aria-label=\"\(HTML.text(title + ". " + description))\">"
        + "<title>\(HTML.text(title))</title><desc>\(HTML.text(description))</desc>"
    ]
    parts += grid(x, y)
    for (index, line) in lines.enumerated() {
      if isStacked {
        parts.append(
          Self.area(sums[index], under: index > 0 ? sums[index - 1] : [], x, y, line.color))
      } else {
        parts.append(Self.path(line, x, y))
      }
    }
    for mark in marks {
      let at = Self.place(x.place(mark.x))
      let isRight = x.place(mark.x) > Self.width * 0.7
      parts.append(
        "<line class=\"mark\" x1=\"\(at)\" x2=\"\(at)\" y1=\"\(Self.place(Self.top))\" y2=\""
          + "\(Self.place(Self.height - Self.bottom))\"/>"
          + "<text x=\"\(Self.place(x.place(mark.x) + (isRight ? -4 : 4)))\" y=\"\(Self.place(Self.top + 10))\""
          + "\(isRight ? " text-anchor=\"end\"" : "")>\(HTML.text(mark.text))</text>")
    }
    for level in levels {
      let at = Self.place(y.place(level.y))
      let right = Self.place(Self.width - Self.right)
      parts.append(
        "<line class=\"mark\" x1=\"\(Self.place(Self.left))\" x2=\"\(right)\" y1=\"\(at)\" y2=\"\(at)\"/>"
          + "<text text-anchor=\"end\" x=\"\(right)\" y=\"\(Self.place(max(y.place(level.y) - 4, Self.top)))\">"
          + "\(HTML.text(level.text))</text>")
    }
    return parts.joined() + "</svg></figure>\n"
  }

  private static func axis(
    _ low: Double, _ high: Double, _ scale: Scale, _ start: Double, _ length: Double
  ) -> Axis {
    switch scale {
    case .linear:
      let top = high > low ? high : low + 1
      return Axis(low: low, high: top, scale: scale, start: start, length: length)
    case .logarithmic:
      let (bottom, top) = (low / 1.1, max(high, low * 1.2) * 1.1)
      return Axis(low: bottom, high: top, scale: scale, start: start, length: length)
    }
  }

  private func grid(_ x: Axis, _ y: Axis) -> [String] {
    let (bottom, right) = (Self.height - Self.bottom, Self.width - Self.right)
    var parts: [String] = []
    for tick in y.ticks {
      let at = Self.place(y.place(tick))
      parts.append(
        "<line class=\"grid\" x1=\"\(Self.place(Self.left))\" x2=\"\(Self.place(right))\" y1=\"\(at)\" y2=\"\(at)\"/>"
          + "<text text-anchor=\"end\" x=\"\(Self.place(Self.left - 5))\" y=\"\(Self.place(y.place(tick) + 4))\">"
          + "\(Self.number(tick))</text>")
    }
    for tick in x.ticks {
      parts.append(
        "<text text-anchor=\"middle\" x=\"\(Self.place(x.place(tick)))\" y=\"\(Self.place(bottom + 15))\">"
          + "\(Self.number(tick))</text>")
    }
    parts.append(
      "<text text-anchor=\"middle\" x=\"\(Self.place((Self.left + right) / 2))\" y=\"\(Self.place(Self.height - 8))\">"
        + "\(HTML.text(xLabel))</text>")
    return parts
  }

  private static func path(_ line: Line, _ x: Axis, _ y: Axis) -> String {
    let places = line.points.map { (place(x.place($0.x)), place(y.place($0.y))) }
    let path = places.map { "\($0.0),\($0.1)" }.joined(separator: " ")
    var text = "<polyline class=\"line c\(line.color)\" points=\"\(path)\"/>"
    if line.showsPoints || places.count == 1 {
      for (x, y) in places {
        text += "<circle class=\"dot f\(line.color)\" cx=\"\(x)\" cy=\"\(y)\" r=\"3\"/>"
      }
    }
    return text
  }

  private static func area(
    _ upper: [(x: Double, y: Double)], under lower: [(x: Double, y: Double)], _ x: Axis, _ y: Axis,
    _ color: Int
  ) -> String {
    let floor = lower.isEmpty ? upper.map { (x: $0.x, y: 0.0) } : lower
    let points = (upper + floor.reversed()).map {
      "\(place(x.place($0.x))),\(place(y.place($0.y)))"
    }
    return "<polygon class=\"area f\(color)\" points=\"\(points.joined(separator: " "))\"/>"
  }

  /// Returns the upper edges of areas on top of each other; all have points at the same places.
  private static func stacked(_ lines: [Line]) -> [[(x: Double, y: Double)]] {
    var sums: [[(x: Double, y: Double)]] = []
    for line in lines {
      let below = sums.last
      sums.append(
        line.points.enumerated().map { index, point in
          (point.x, point.y + (below.map { index < $0.count ? $0[index].y : 0 } ?? 0))
        })
    }
    return sums
  }

  /// The names of the lines with their colors, as text that wraps on a narrow page.
  private static func legend(_ lines: [Line]) -> String {
    guard lines.count > 1 else { return "" }
    let entries = lines.map { line in
      "<span><i class=\"b\(line.color)\"></i>\(HTML.text(line.name))</span>"
    }
    return "<p class=\"legend\">\(entries.joined(separator: " "))</p>"
  }
}

/// Text of HTML.
enum HTML {
  /// Returns text with the characters escaped that mean something in HTML.
  static func text(_ text: String) -> String {
    text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
      .replacing("\"", with: "&quot;").replacing("'", with: "&#39;")
  }

  /// Returns a table that scrolls on a narrow page; the first column is text, the others are numbers.
  static func table(_ head: [String], _ rows: [[String]]) -> String {
    func row(_ cells: [String], _ tag: String) -> String {
      "<tr>" + cells.map { "<\(tag)>\(text($0))</\(tag)>" }.joined() + "</tr>"
    }
    return "<div class=\"wide\"><table><thead>\(row(head, "th"))</thead><tbody>"
      + rows.map { row($0, "td") }.joined() + "</tbody></table></div>\n"
  }
}
