import Testing

@testable import Drafting

/// The merge of a draft's base, a person's files, and a new draft.
@Suite struct DraftMergeTests {
  @Test func `a draft is checked in a folder next to its own, whose name may have one character`()
    throws
  {
    #expect(try DraftFolder("w").withCopy(of: []) { $0 } == ".w.drafting")
    #expect(try DraftFolder("./w/").withCopy(of: []) { $0 } == "./.w.drafting")
  }

  private static let base = [
    "album.graphql": """
    type Album @table(name: "album", key: "album_id") {
      albumId: Int!
      title: String!
      artist: Artist @reference(column: "artist_id")
    }

    extend type Query {
      album(albumId: Int!): Album @reference(where: "this.album_id = :albumId")
      albums: AlbumConnection! @connection(orderBy: "this.album_id")
    }

    """,
    "artist.graphql": """
    type Artist @table(name: "artist", key: "artist_id") {
      artistId: Int!
      albums: AlbumConnection! @connection(where: "this.artist_id = parent.artist_id")
    }

    extend type Query {
      artists: ArtistConnection! @connection(orderBy: "this.artist_id")
    }

    """,
    "types.graphql": """
    type Query

    enum Mood {
      GOOD
      BAD
    }

    scalar UUID @scalar(type: "uuid")

    """,
  ]

  /// Applies a merge to a person's files.
  private func merge(
    mine: [String: String], new: [String: String], base: [String: String] = base
  ) throws -> (files: [String: String], merge: DraftMerge) {
    let merge = try DraftMerge(base: base, mine: mine, new: new)
    var files = mine
    for (name, text) in merge.written { files[name] = text }
    for name in merge.removed { files[name] = nil }
    // The new draft is the base of the next merge, which has nothing to do.
    let again = try DraftMerge(base: new, mine: files, new: new)
    #expect(again.changes == [] && again.conflicts == [], "\(again.changes)\(again.conflicts)")
    #expect(again.written.isEmpty && again.removed.isEmpty)
    return (files, merge)
  }

  private func edited(
    _ name: String, _ old: String, _ new: String, in files: [String: String] = base
  ) throws -> [String: String] {
    var files = files
    let text = try #require(files[name])
    try #require(text.contains(old), "\(text)")
    files[name] = text.replacing(old, with: new)
    return files
  }

  @Test func `without a change of the database nothing changes`() throws {
    let mine = try edited(
      "album.graphql", "title: String!", "name: String! @column(name: \"title\")")
    let (files, merge) = try self.merge(mine: mine, new: Self.base)
    #expect(files == mine && merge.changes == [] && merge.conflicts == [])
  }

  @Test func `what leads to a table that the person has removed is removed with it`() throws {
    var mine = try edited("album.graphql", "title: String!", "title: String! # Mine.")
    mine["artist.graphql"] = nil
    let (files, merge) = try self.merge(mine: mine, new: Self.base)
    #expect(merge.changes == ["removed Album.artist"] && merge.conflicts == [])
    #expect(files["artist.graphql"] == nil)
    #expect(files["album.graphql"]?.contains("artist") == false)
    #expect(files["album.graphql"]?.contains("# Mine.") == true)
  }

  @Test func `a type that the person has renamed is the same type`() throws {
    var base = Self.base
    base["album.graphql"] = """
      type Album @table(name: "album", key: "album_id") {
        albumId: Int!
        mood: Mood
      }

      input AlbumFilter @filter(of: "Album")

      extend type Query {
        albums(filter: AlbumFilter): AlbumConnection! @connection
      }

      input AlbumInput {
        mood: Mood
      }

      extend type Mutation {
        insertAlbums(input: [AlbumInput!]!): AlbumPayload! @insert(into: "Album")
      }

      type AlbumPayload {
        rows: [Album!]! @list(from: "album")
      }

      """
    base["types.graphql"]? += "type Mutation\n\nenum Words {\n  Album\n  AlbumInput\n}\n"
    var mine = base
    for (name, text) in mine {
      mine[name] = text.replacing("Words {\n  Album\n  AlbumInput", with: "Words {\n  A\n  B")
        .replacing("AlbumFilter", with: "Which").replacing("AlbumInput", with: "NewRecord")
        .replacing(#/\bAlbum(Connection)?\b/#) { "Record\($0.1 ?? "")" }
        .replacing("Words {\n  A\n  B", with: "Words {\n  Album\n  AlbumInput")
    }
    var new = base
    new["album.graphql"] = base["album.graphql"]?
      .replacing(
        "  mood: Mood\n}\n\ninput AlbumFilter",
        with: "  mood: Mood\n  year: Int\n}\n\ninput AlbumFilter"
      )
      .replacing("input AlbumInput {\n", with: "input AlbumInput {\n  year: Int\n")
    new["song.graphql"] = """
      type Song @table(name: "song", key: "song_id") {
        songId: Int!
        album: Album @reference(column: "album_id")
      }

      """
    let (files, merge) = try self.merge(mine: mine, new: new, base: base)
    #expect(
      Set(merge.changes) == ["added Record.year", "added NewRecord.year", "added Song"]
        && merge.conflicts == [], "\(merge.changes) \(merge.conflicts)")
    #expect(files["song.graphql"]?.contains("album: Record @reference") == true)
    #expect(files["album.graphql"]?.contains("  mood: Mood\n  year: Int\n") == true)
    #expect(files["album.graphql"]?.contains("albums(filter: Which): RecordConnection!") == true)
    #expect(files["types.graphql"] == base["types.graphql"])
  }

  @Test func `a new field is inserted behind its neighbor, and comments stay`() throws {
    let mine = try edited(
      "album.graphql", "  title: String!\n",
      "  # What is on the cover.\n  title: String! # Never null.\n")
    let new = try edited(
      "album.graphql", "  title: String!\n", "  title: String!\n  year: Int\n  price: Decimal\n")
    let (files, merge) = try self.merge(mine: mine, new: new)
    #expect(merge.changes == ["added Album.year", "added Album.price"] && merge.conflicts == [])
    #expect(
      files["album.graphql"]?.contains(
        "  # What is on the cover.\n  title: String! # Never null.\n  year: Int\n  price: Decimal\n"
          + "  artist:") == true, "\(files)")
  }

  @Test func `a new first field is inserted behind the brace, or with braces`() throws {
    let new = try edited("album.graphql", "  albumId", "  before: Int\n  albumId")
    let (files, _) = try self.merge(mine: Self.base, new: new)
    #expect(files == new)
    let bare = ["a.graphql": "type Bare @table(name: \"a\") # None.\n"]
    let full = ["a.graphql": "type Bare @table(name: \"a\") {\n  x: Int\n}\n"]
    #expect(
      try self.merge(mine: bare, new: full, base: bare).files["a.graphql"]
        == "type Bare @table(name: \"a\") {\n  x: Int\n} # None.\n")
  }

  @Test func `what only the draft has changed is taken, what only the person has changed stays`()
    throws
  {
    let mine = try edited("album.graphql", "artist: Artist @", "by: Artist @")
    let new = try edited("album.graphql", "title: String!", "\"The title.\"\n  title: String")
    let (files, merge) = try self.merge(mine: mine, new: new)
    #expect(merge.changes == ["changed Album.title"] && merge.conflicts == [])
    #expect(
      files["album.graphql"]?.contains("  \"The title.\"\n  title: String\n  by: Artist @") == true)
  }

  @Test func `of what both have changed the person's stays, and is reported`() throws {
    let mine = try edited("album.graphql", "title: String!", "title: String! @deprecated")
    let new = try edited("album.graphql", "title: String!", "title: String")
    let (files, merge) = try self.merge(mine: mine, new: new)
    #expect(files == mine && merge.changes == [])
    #expect(merge.conflicts == ["Album.title: the draft and you have changed it; yours stays"])
    let gone = try edited("album.graphql", "  title: String!\n", "")
    #expect(
      try self.merge(mine: mine, new: gone).merge.conflicts
        == ["Album.title: the draft has it no longer, and you have changed it; yours stays"])
  }

  @Test func `what the person has removed stays away`() throws {
    let mine = try edited("album.graphql", "  title: String!\n", "")
    let new = try edited("album.graphql", "title: String!", "title: String")
    let (files, merge) = try self.merge(mine: mine, new: new)
    #expect(files == mine && merge.changes == [] && merge.conflicts == [])
  }

  @Test func `a field, a value and a type that the database has lost are removed`() throws {
    var new = try edited("album.graphql", "  title: String!\n", "")
    new = try edited("types.graphql", "  BAD\n", "", in: new)
    new = try edited("types.graphql", "\nscalar UUID @scalar(type: \"uuid\")\n", "", in: new)
    new = try edited(
      "album.graphql", "  artist: Artist @reference(column: \"artist_id\")\n", "", in: new)
    new["artist.graphql"] = nil
    let (files, merge) = try self.merge(mine: Self.base, new: new)
    #expect(
      Set(merge.changes) == [
        "removed Album.title", "removed Album.artist", "removed Mood.BAD", "removed UUID",
        "removed Artist", "removed Query.artists",
      ])
    #expect(files["artist.graphql"] == nil)
    #expect(files["album.graphql"] == new["album.graphql"])
  }

  @Test func `a new table is a new file, and the fields that lead to it are added`() throws {
    var new = try edited(
      "album.graphql", "  artist:", "  label: Label @reference(column: \"label_id\")\n  artist:")
    let label = """
      type Label @table(name: "label", key: "label_id") {
        labelId: Int!
      }

      extend type Query {
        labels: LabelConnection! @connection(orderBy: "this.label_id")
      }

      """
    new["label.graphql"] = label
    let (files, merge) = try self.merge(mine: Self.base, new: new)
    #expect(merge.conflicts == [])
    #expect(files == new)
    // A person who then removes it hears no more of it.
    let mine = Self.base
    let later = try edited(
      "label.graphql", "labelId: Int!", "labelId: Int!\n  name: String", in: new)
    let silent = try self.merge(mine: mine, new: later, base: new)
    #expect(silent.files == mine && silent.merge.changes == [])
  }

  @Test func `text in strings and comments is not taken for braces or fields`() throws {
    let base = [
      "a.graphql":
        "\"\"\"\nA } in \\\"\"\" it\n\"\"\"\ntype A @table(name: \"a}\") { # }\n  x: Int # x }\n}\n"
    ]
    let new = [
      "a.graphql":
        "\"\"\"\nA } in \\\"\"\" it\n\"\"\"\ntype A @table(name: \"a}\") {\n  x: Int\n  y: Int\n}\n"
    ]
    let (files, _) = try self.merge(mine: base, new: new, base: base)
    #expect(
      files["a.graphql"]
        == "\"\"\"\nA } in \\\"\"\" it\n\"\"\"\ntype A @table(name: \"a}\") { # }\n  x: Int # x }\n  y: Int\n}\n"
    )
  }

  @Test func `a file that is no SDL is named with the place`() {
    #expect {
      _ = try DraftMerge(base: [:], mine: ["a.graphql": "type {"], new: [:])
    } throws: { error in
      "\(error)".hasPrefix("a.graphql:1:6: ")
    }
  }
}
