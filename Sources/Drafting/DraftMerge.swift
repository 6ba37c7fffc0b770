/// Brings what a database has become into files that a person has edited.
///
/// Three versions of each part are compared: the base, which was last drafted, the person's, and
/// the new draft. A part is a type's head, or a field or value, by its coordinate. What only the
/// draft has changed is taken, what only the person has changed stays, and of what both have
/// changed the person's stays, and is reported. Comments and the order of the person stay. A type that
/// the person has renamed is the same type (`TypeRenames`).
package struct DraftMerge {
  /// What the merge does: a line each.
  package private(set) var changes: [String] = []
  /// What both have changed: a line each.
  package private(set) var conflicts: [String] = []
  /// The files to write, with their texts.
  package private(set) var written: [(name: String, text: String)] = []
  /// The files that have nothing left.
  package private(set) var removed: [String] = []

  private let base: DraftVersion
  private let mine: DraftVersion
  private let new: DraftVersion
  private var edits: [String: [(range: Range<Int>, text: String)]] = [:]
  /// The texts to add at the end of files, in order.
  private var additions: [String: [String]] = [:]

  /// Merges the texts of three versions, by the names of their files.
  package init(
    base: [String: String], mine: [String: String], new: [String: String]
  ) throws(DraftFolder.Failure) {
    let renames = try TypeRenames(base: base, mine: mine)
    self.base = try DraftVersion(renames.applied(to: base))
    self.mine = try DraftVersion(mine)
    self.new = try DraftVersion(renames.applied(to: new))
    mergeHeads()
    mergeMembers()
    finish()
  }

  // MARK: - Types

  private mutating func mergeHeads() {
    for name in new.order {
      guard let type = new.types[name], !isUnwanted(name) else { continue }
      guard let own = mine.types[name] else {
        changes.append("added \(name)")
        add(new.text(of: type), to: type.file)
        continue
      }
      let before = base.types[name]?.definition.head
      let after = type.definition.head
      guard before != after, own.definition.head != after else { continue }
      if own.definition.head == before {
        changes.append("changed \(name)")
        edits[own.file, default: []].append(
          (own.definition.headRange, type.source.text(type.definition.headRange)))
      } else {
        conflicts.append("\(name): the draft and you have changed its first line; yours stays")
      }
    }
    for name in base.order where new.types[name] == nil && !isKept(name) {
      guard let own = mine.types[name], let old = base.types[name] else { continue }
      if own.definition.head == old.definition.head,
        // In whatever order, which is the person's.
        own.definition.members.map(\.form).sorted() == old.definition.members.map(\.form).sorted()
      {
        changes.append("removed \(name)")
        edits[own.file, default: []].append((own.source.wholeLines(own.definition.range), ""))
      } else {
        conflicts.append(
          "\(name): the draft has it no longer, and you have changed it; yours stays")
      }
    }
  }

  /// Returns whether a root type stays without drafted fields, because the person has added some.
  private func isKept(_ name: String) -> Bool {
    DraftVersion.roots.contains(name)
      && mine.members.contains { $0.value.owner == name && base.members[$0.key] == nil }
  }

  /// Returns whether a type was drafted before and the person has removed it.
  private func isUnwanted(_ name: String) -> Bool {
    base.types[name] != nil && mine.types[name] == nil
  }

  // MARK: - Members

  private mutating func mergeMembers() {
    // The last member in the order of the draft that the person has, too.
    var previous: [String: String] = [:]
    for coordinate in new.memberOrder {
      guard let member = new.members[coordinate], !isUnwanted(member.owner),
        !member.types.contains(where: isUnwantedPart),
        // A type that is added has its members already.
        DraftVersion.roots.contains(member.owner) || mine.types[member.owner] != nil
      else { continue }
      let isRoot = DraftVersion.roots.contains(member.owner)
      let place = isRoot ? "\(member.owner) \(member.file)" : member.owner
      merge(coordinate, member, behind: previous[place])
      if let own = mine.members[coordinate],
        !isRoot || own.file == member.file
      {
        previous[place] = coordinate
      }
    }
    for coordinate in base.memberOrder where new.members[coordinate] == nil {
      guard let own = mine.members[coordinate], let old = base.members[coordinate],
        DraftVersion.roots.contains(old.owner) || new.types[old.owner] != nil
      else { continue }
      remove(coordinate, own, old)
    }
    // What leads to a type that the person has removed is removed with it.
    for coordinate in base.memberOrder {
      guard let own = mine.members[coordinate], let old = base.members[coordinate],
        own.form == old.form, new.members[coordinate] != nil,
        old.types.contains(where: isUnwantedPart)
      else { continue }
      remove(coordinate, own, old)
    }
  }

  /// Returns whether a type is one that the person has removed, or is made for it.
  private func isUnwantedPart(_ name: String) -> Bool {
    guard mine.types[name] == nil else { return false }
    if isUnwanted(name) { return true }
    return name.hasSuffix("Connection") && isUnwanted(String(name.dropLast("Connection".count)))
  }

  private mutating func merge(
    _ coordinate: String, _ member: DraftVersion.Member, behind previous: String?
  ) {
    let old = base.members[coordinate]
    let own = mine.members[coordinate]
    guard old?.form != member.form, own?.form != member.form else { return }
    switch (old, own) {
    case (_?, nil):
      // The person has removed it.
      return
    case (nil, nil):
      changes.append("added \(coordinate)")
      insert(member, behind: previous)
    case (let old?, let own?) where old.form == own.form:
      changes.append("changed \(coordinate)")
      edits[own.file, default: []].append((own.range, member.source.text(member.range)))
    case (_, _?):
      conflicts.append("\(coordinate): the draft and you have changed it; yours stays")
    }
  }

  private mutating func remove(
    _ coordinate: String, _ own: DraftVersion.Member, _ old: DraftVersion.Member
  ) {
    guard own.form == old.form else {
      conflicts.append(
        "\(coordinate): the draft has it no longer, and you have changed it; yours stays")
      return
    }
    changes.append("removed \(coordinate)")
    edits[own.file, default: []].append((own.source.wholeLines(own.range), ""))
  }

  /// Inserts a member behind the one that precedes it in the draft, or else first.
  private mutating func insert(_ member: DraftVersion.Member, behind previous: String?) {
    let text = member.source.text(member.range)
    if let previous, let place = mine.members[previous] {
      let end = place.source.endOfLine(place.range.upperBound)
      edits[place.file, default: []].append((end..<end, "\n  \(text)"))
      return
    }
    let definition =
      DraftVersion.roots.contains(member.owner)
      ? mine.extensions["\(member.owner) \(member.file)"] : mine.types[member.owner]
    guard let definition else {
      addition(of: text, to: member)
      return
    }
    let place = definition.definition.headRange.upperBound
    if definition.definition.members.isEmpty {
      edits[definition.file, default: []].append((place..<place, " {\n  \(text)\n}"))
    } else {
      // Behind the brace.
      let brace = definition.source.bytes[place...].firstIndex(of: UInt8(ascii: "{")) ?? place
      edits[definition.file, default: []].append((brace + 1..<brace + 1, "\n  \(text)"))
    }
  }

  /// Adds a field to the extension of a root type that is added to its file.
  private mutating func addition(of text: String, to member: DraftVersion.Member) {
    let head = "extend type \(member.owner) {\n"
    if let place = additions[member.file]?.firstIndex(where: { $0.hasPrefix(head) }) {
      additions[member.file]?[place].removeLast("}\n".count)
      additions[member.file]?[place] += "  \(text)\n}\n"
    } else {
      add("\(head)  \(text)\n}\n", to: member.file)
    }
  }

  private mutating func add(_ text: String, to file: String) {
    additions[file, default: []].append(text)
  }

  // MARK: - Files

  private mutating func finish() {
    for file in Set(edits.keys).union(additions.keys).sorted() {
      let source = mine.files[file]
      var text = source?.replacing(edits[file] ?? []) ?? ""
      for addition in additions[file] ?? [] {
        if !text.isEmpty { text += text.hasSuffix("\n") ? "\n" : "\n\n" }
        text += addition
      }
      // An extension that lost its last field.
      text = text.replacing(#/extend type \w+ \{\s*\}\n?/#, with: "")
      text = String(text.drop(while: \.isNewline))
      if text.allSatisfy(\.isWhitespace) {
        if source != nil { removed.append(file) }
      } else if text != source.map({ String(decoding: $0.bytes, as: UTF8.self) }) {
        written.append((file, text))
      }
    }
  }
}

/// The parts of all files of a version, by their coordinates.
struct DraftVersion {
  struct TypePart {
    let file: String
    let source: SDLText
    let definition: SDLText.Definition
  }

  struct Member {
    let owner: String
    let file: String
    let source: SDLText
    let form: String
    let range: Range<Int>
    /// The names of the types of the field and its arguments.
    let types: [String]
  }

  /// The types whose fields are in extensions, in the files of the tables.
  static let roots: Set<String> = ["Query", "Mutation"]

  private(set) var files: [String: SDLText] = [:]
  private(set) var types: [String: TypePart] = [:]
  private(set) var order: [String] = []
  private(set) var members: [String: Member] = [:]
  private(set) var memberOrder: [String] = []
  /// The first extension of each root type in each file, by both names.
  private(set) var extensions: [String: TypePart] = [:]

  init(_ texts: [String: String]) throws(DraftFolder.Failure) {
    for (name, text) in texts.sorted(by: { $0.key < $1.key }) {
      let source = try SDLText(name: name, text: text)
      files[name] = source
      for definition in source.definitions { add(definition, of: source) }
    }
  }

  private mutating func add(_ definition: SDLText.Definition, of source: SDLText) {
    let part = TypePart(file: source.name, source: source, definition: definition)
    if definition.isExtension {
      let key = "\(definition.name) \(source.name)"
      if Self.roots.contains(definition.name), extensions[key] == nil { extensions[key] = part }
    } else if types.updateValue(part, forKey: definition.name) == nil {
      order.append(definition.name)
    }
    for member in definition.members {
      let coordinate = "\(definition.name).\(member.name)"
      let value = Member(
        owner: definition.name, file: source.name, source: source, form: member.form,
        range: member.range, types: definition.syntax.typeNames(of: member.name))
      if members.updateValue(value, forKey: coordinate) == nil { memberOrder.append(coordinate) }
    }
  }

  /// Returns a definition's text, with a line feed behind.
  func text(of part: TypePart) -> String { part.source.text(part.definition.range) + "\n" }
}
