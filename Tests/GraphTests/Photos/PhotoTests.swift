import DatabaseSetup
import Foundation
import JSON
import Pictures
import Postgres
import Server
import Synchronization
import TestSupport
import Testing

/// Photos from the phone that sends them to the page that shows them, over HTTP.
@Suite(.usesCluster) struct PhotoTests {
  private var server: GraphServer { get throws { try .shared } }

  private func code(_ response: HTTPClients.Response) throws -> String? {
    try JSONParser.parse(response.body).at("errors.0.extensions.code")?.string
  }

  // MARK: - The way there and back

  @Test func `what was sent is registered, attached, and served where the photo says`() throws {
    let server = try server
    let ada = try server.data().person("ada")
    let bytes = TestPicture.png(width: 800, height: 600)
    let response = try server.post(photo: bytes, as: ada)
    #expect(response.status == 201)
    #expect(response.header("Content-Type") == "application/json; charset=utf-8")
    let answer = try JSONParser.parse(response.body)
    let url = try #require(answer["url"]?.string)
    #expect(url == response.header("Location"))
    #expect(answer["width"] == .number("800"))
    #expect(answer["height"] == .number("600"))
    #expect(answer["contentType"] == "image/png")

    let photo = "photo { id width height moderation url square: url(shape: SQUARE) }"
    let made = try server.mutate(
      "createPhoto(input: {url: $url})", photo, ["url: URL!": .string(url)], as: ada)
    #expect(made.at("photo.width") == .number("800"))
    #expect(made.at("photo.height") == .number("600"))
    #expect(made.at("photo.moderation") == "APPROVED")
    #expect(made.at("photo.url") == .string(url))
    // Twice for one upload is the same photo, and so is the same picture sent twice.
    #expect(
      try server.mutate(
        "createPhoto(input: {url: $url})", photo, ["url: URL!": .string(url)], as: ada) == made)
    #expect(try server.upload(bytes, as: ada) == url)

    let whole = try server.photo(at: url)
    #expect(whole.status == 200)
    #expect(whole.header("Content-Type") == "image/png")
    #expect(PictureSize(of: whole.body, .png) == PictureSize(width: 800, height: 600))
    let square = try #require(made.at("photo.square")?.string)
    let cut = try server.photo(at: square)
    #expect(PictureSize(of: cut.body, .png) == PictureSize(width: 600, height: 600))
    #expect(cut.header("Cache-Control") == "public, max-age=31536000, immutable")
    #expect(cut.header("ETag") != whole.header("ETag"))

    let id = try #require(made.at("photo.id"))
    let post = try server.mutate(
      "createTextPost(input: {body: \"Look\", photoIds: [$id]})",
      "textPost { photos { url } }", ["id: ID!": id], as: ada)
    #expect(post.at("textPost.photos.0.url") == .string(url))
  }

  @Test func `a picture is given in every form that it says it has, and in no other`() throws {
    let server = try server
    let ada = try server.data().person("ada")
    let id = try server.uploadPhoto(TestPicture.png(width: 501, height: 333), as: ada)
    let read = try server.data(
      """
      query($id: ID!) { node(id: $id) { ... on Photo {
        variants { shape url width height } squares: variants(shape: SQUARE) { width }
        largest: url narrow: url(width: 1) middle: url(width: 161) wide: url(width: 4000)
        icon: url(shape: SQUARE, width: 150) square: url(shape: SQUARE) } } }
      """, ["id": .string(id)], as: ada
    )["node"]
    let variants = try #require(read?["variants"]?.array)
    #expect(
      variants.map { "\($0["shape"]?.string?.first ?? "?")\($0["width"] ?? .null)" }
        == ["O160", "S160", "O320", "S320", "S333", "O501"])
    #expect(read?["squares"] == [["width": 160], ["width": 320], ["width": 333]])
    for variant in variants {
      let given = try server.photo(at: #require(variant["url"]?.string))
      #expect(given.status == 200)
      let size = try #require(PictureSize(of: given.body, .png))
      #expect(variant["width"] == .number("\(size.width)"))
      #expect(variant["height"] == .number("\(size.height)"))
    }
    let whole = try #require(read?["largest"]?.string)
    func form(_ name: String) -> JSONValue {
      .string(whole.replacing(".png", with: "-\(name).png"))
    }
    #expect(read?["narrow"] == form("w160"))
    #expect(read?["middle"] == form("w320"))
    #expect(read?["wide"] == .string(whole))
    #expect(read?["icon"] == form("s160"))
    #expect(read?["square"] == form("s333"))
    for name in ["w640", "w161", "s640", "w501"] {
      #expect(try server.photo(at: form(name).string ?? "").status == 404, "\(name)")
    }
    // All who ask for it at once get the same.
    let other = try server.upload(TestPicture.png(width: 400, height: 300), as: ada)
    let bodies = try crowd(of: 8) { _ in
      try server.photo(at: other.replacing(".png", with: "-w160.png")).body
    }
    #expect(Set(bodies).count == 1 && bodies[0].isEmpty == false)
  }

  @Test func `an upload is its sender's alone`() throws {
    let server = try server
    let (ada, bob) = try (server.data().person("ada"), server.data().person("bob"))
    let bytes = TestPicture.png()
    let url = try server.upload(bytes, as: ada)
    func refusals(_ url: String, as person: Person) throws -> [Refusal] {
      try server.refusals(
        "createPhoto(input: {url: $url})", ["url: URL!": .string(url)], as: person)
    }
    #expect(try refusals(url, as: bob) == [Refusal("NOT_FOUND", "input", "url")])
    #expect(try refusals("https://elsewhere.example/a.png", as: ada).map(\.code) == ["NOT_FOUND"])
    #expect(try refusals("", as: ada).map(\.code) == ["NOT_FOUND"])
    // Who sends the same picture has one too, and it is another photo.
    #expect(try server.upload(bytes, as: bob) == url)
    #expect(try server.uploadPhoto(bytes, as: ada) != server.uploadPhoto(bytes, as: bob))
  }

  // MARK: - Refusals

  @Test func `an animated PNG is refused with the types that may be animated`() throws {
    let server = try server
    let ada = try server.data().person("ada")
    let bytes = TestPicture.png(
      pixel: [1, 2, 3],
      chunks: TestPicture.chunk("acTL", TestPicture.big(2) + TestPicture.big(0)))
    let response = try server.post(photo: bytes, as: ada)
    #expect(response.status == 415)
    #expect(try code(response) == "UNSUPPORTED_MEDIA_TYPE")
    let message = try JSONParser.parse(response.body).at("errors.0.message")?.string
    #expect(
      message == "Animated PNG pictures are not accepted. Send an animated WebP or GIF.")
  }

  @Test func `nobody is told so before anything is read`() throws {
    let response = try server.send("POST", "/photos", body: TestPicture.png())
    #expect(response.status == 401)
    #expect(try code(response) == "UNAUTHENTICATED")
    #expect(response.header("WWW-Authenticate") == "Bearer")
    for token in ["Bearer nobody-has-this", "Basic YTpi"] {
      let response = try server.send(
        "POST", "/photos", headers: [("Authorization", token)], body: TestPicture.png())
      #expect(response.status == 401)
      #expect(try code(response) == "UNAUTHENTICATED")
    }
  }

  @Test func `what is no picture is refused by what is wrong with it`() throws {
    let server = try server
    let ada = try server.data().person("ada")
    let png = TestPicture.png()
    var bomb = png
    bomb.replaceSubrange(16..<24, with: TestPicture.big(60_000) + TestPicture.big(60_000))
    let hidden = TestPicture.png()
    let cases: [(String, [UInt8], Int, String)] = [
      ("empty", [], 400, "BAD_REQUEST"),
      ("text", Array("<script>alert(1)</script>".utf8), 415, "UNSUPPORTED_MEDIA_TYPE"),
      (
        "SVG", Array("<svg xmlns='http://www.w3.org/2000/svg'/>".utf8), 415,
        "UNSUPPORTED_MEDIA_TYPE"
      ),
      ("PDF", Array("%PDF-1.7".utf8), 415, "UNSUPPORTED_MEDIA_TYPE"),
      ("TIFF", [0x49, 0x49, 0x2A, 0, 8, 0, 0, 0], 415, "UNSUPPORTED_MEDIA_TYPE"),
      ("a form", Array("--x\r\n\r\n".utf8) + png, 415, "UNSUPPORTED_MEDIA_TYPE"),
      ("mark alone", Array(png.prefix(8)), 422, "PICTURE_UNREADABLE"),
      ("header alone", Array(png.prefix(33)), 422, "PICTURE_UNREADABLE"),
      ("cut short", Array(png.dropLast(60)), 422, "PICTURE_UNREADABLE"),
      ("JPEG mark", [0xFF, 0xD8, 0xFF, 0xE0], 422, "PICTURE_UNREADABLE"),
      ("JPEG with a PNG in it", [0xFF, 0xD8, 0xFF] + hidden, 422, "PICTURE_UNREADABLE"),
      ("60,000 by 60,000", bomb, 422, "TOO_MANY_PIXELS"),
      ("too large", png + [UInt8](repeating: 0, count: 20 << 20), 413, "PAYLOAD_TOO_LARGE"),
    ]
    for (name, bytes, status, expected) in cases {
      let response = try server.post(
        photo: bytes, as: ada, headers: [("Content-Type", "image/png")])
      #expect(response.status == status, "\(name)")
      #expect(try code(response) == expected, "\(name)")
    }
    // Larger than other bodies may be, and no larger than photos may.
    #expect(
      try server.post(photo: [0xFF] + [UInt8](repeating: 0, count: 20 << 20 - 1), as: ada).status
        == 415)
  }

  @Test func `what hides behind a picture is not kept`() throws {
    let server = try server
    let ada = try server.data().person("ada")
    let secret = "52.5200 N, 13.4050 E, serial 4711"
    let words = Array(secret.utf8)
    let png = TestPicture.png()
    // A comment, EXIF data, and something behind the end.
    let comment = TestPicture.chunk("tEXt", Array("GPS\0".utf8) + words)
    let exif = TestPicture.chunk("eXIf", Array("MM\0*\0\0\0\u{8}".utf8) + words)
    var laden = Array(png.prefix(33))
    laden += comment
    laden += exif
    laden += png.dropFirst(33)
    laden += Array("<script>".utf8)
    laden += words
    let url = try server.upload(laden, as: ada)
    let kept = try server.photo(at: url)
    #expect(kept.status == 200)
    #expect(!kept.text.contains("serial 4711"))
    #expect(!kept.text.contains("<script>"))
  }

  @Test func `other methods and paths`() throws {
    let server = try server
    let list = try server.send("GET", "/photos")
    #expect(list.status == 405)
    #expect(list.header("Allow") == "POST, OPTIONS")
    #expect(try server.send("DELETE", "/photos/a.png").header("Allow") == "GET, HEAD, OPTIONS")
    let hash = String(repeating: "0", count: 64)
    for path in [
      "/photos/", "/photos/a.png", "/photos/../etc/passwd", "/photos/\(hash).png",
      "/photos/\(hash).svg", "/photos/\(hash.uppercased())A.png", "/photos/\(hash)/..%2f.png",
    ] {
      let response = try server.send("GET", path)
      #expect(response.status == 404, "\(path)")
      #expect(try code(response) == "NOT_FOUND", "\(path)")
    }
  }

  // MARK: - Serving

  @Test func `photos are kept by caches for ever and given in parts`() throws {
    let server = try server
    let url = try server.upload(
      TestPicture.png(width: 200, height: 200), as: server.data().person("ada"))
    let whole = try server.photo(at: url)
    #expect(whole.header("Cache-Control") == "public, max-age=31536000, immutable")
    #expect(whole.header("Accept-Ranges") == "bytes")
    #expect(whole.header("X-Content-Type-Options") == "nosniff")
    #expect(whole.header("Content-Security-Policy") == "default-src 'none'; sandbox")
    let tag = try #require(whole.header("ETag"))
    let size = whole.body.count

    let head = try server.send("HEAD", url)
    #expect(head.status == 200)
    #expect(head.header("Content-Length") == "\(size)")
    #expect(head.header("ETag") == tag)

    for field in [tag, "W/\(tag)", "\"other\", \(tag)", "*"] {
      let known = try server.photo(at: url, headers: [("If-None-Match", field)])
      #expect(known.status == 304, "\(field)")
      #expect(known.header("ETag") == tag)
      #expect(known.body.isEmpty)
    }
    #expect(try server.photo(at: url, headers: [("If-None-Match", "\"other\"")]).status == 200)

    let parts: [(String, Range<Int>)] = [
      ("bytes=0-9", 0..<10), ("bytes=10-10", 10..<11), ("bytes=20-", 20..<size),
      ("bytes=-7", size - 7..<size), ("bytes=5-999999999", 5..<size),
      ("bytes=-99999999999999999999999", 0..<size), ("BYTES=0-0", 0..<1),
    ]
    for (field, range) in parts {
      let part = try server.photo(at: url, headers: [("Range", field)])
      #expect(part.status == 206, "\(field)")
      #expect(
        part.header("Content-Range") == "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(size)")
      #expect(part.body == Array(whole.body[range]), "\(field)")
    }
    for field in ["bytes=\(size)-", "bytes=-0", "bytes=99999999999999999999999-"] {
      let none = try server.photo(at: url, headers: [("Range", field)])
      #expect(none.status == 416, "\(field)")
      #expect(none.header("Content-Range") == "bytes */\(size)")
    }
    // What is malformed, or asks for several, is passed over.
    for field in ["bytes=", "bytes=-", "bytes=9-3", "bytes=a-b", "rows=0-1", "bytes=0-1,3-4"] {
      let all = try server.photo(at: url, headers: [("Range", field)])
      #expect(all.status == 200, "\(field)")
      #expect(all.body == whole.body)
    }
    let ifRange = [("Range", "bytes=0-9"), ("If-Range", tag)]
    #expect(try server.photo(at: url, headers: ifRange).status == 206)
    let ifOther = [("Range", "bytes=0-9"), ("If-Range", "\"other\"")]
    #expect(try server.photo(at: url, headers: ifOther).status == 200)
  }

  // MARK: - Moderation and forgetting

  /// A server whose photos are decided about by a command.
  private func moderated(by command: String) throws -> GraphServer {
    let service = try TestPictures.service {
      $0.moderation = PictureModeration(
        command: command, time: .seconds(600), environment: ["PATH": "/usr/bin:/bin"])
    }
    return try GraphServer(
      database: TestCluster.newDatabase(migrated: true), settings: { $0.pictures = service })
  }

  @Test func `a command decides about each photo, and what it does not decide waits`() throws {
    // By the number of bytes it is given; the type it is told must fit.
    let server = try moderated(
      by: """
        [ "$SOCIOGRAPH_PHOTO_TYPE" = image/png ] || exit 3
        case "$(head -c 24 | tail -c 4 | od -An -tu1 | tr -d ' ')" in
          00010) echo approved ;; 00020) echo REJECTED ;; 00030) echo " pending" ;;
          00040) echo perhaps ;; *) exit 1 ;;
        esac
        """)
    defer { server.stop() }
    let ada = try server.data().person("ada")
    func state(height: Int) throws -> JSONValue? {
      let url = try server.upload(TestPicture.png(width: 12, height: height), as: ada)
      return try server.mutate(
        "createPhoto(input: {url: $url})", "photo { moderation }", ["url: URL!": .string(url)],
        as: ada
      ).at("photo.moderation")
    }
    #expect(try state(height: 10) == "APPROVED")
    for height in [30, 40, 50] { #expect(try state(height: height) == "PENDING", "\(height)") }
    let bytes = TestPicture.png(width: 12, height: 20)
    let url = try server.upload(bytes, as: ada)
    func refusals() throws -> [Refusal] {
      try server.refusals(
        "createPhoto(input: {url: $url})", ["url: URL!": .string(url)], as: ada)
    }
    #expect(try refusals() == [Refusal("REJECTED_PHOTO", "input", "url")])
    // Sent again it is no better.
    #expect(try server.upload(bytes, as: ada) == url)
    #expect(try refusals() == [Refusal("REJECTED_PHOTO", "input", "url")])
  }

  @Test func `what staff has refused cannot be registered again`() throws {
    let server = try server
    let data = try server.data()
    let (ada, staff) = (
      try data.person("ada"), try data.person("staff", roles: ["MEMBER", "STAFF"])
    )
    let bytes = TestPicture.png()
    let photo = try server.uploadPhoto(bytes, as: ada)
    try server.mutate(
      "moderatePhoto(photoId: $id, state: REJECTED)", "photo { id }", ["id: ID!": .string(photo)],
      as: staff)
    let url = try server.upload(bytes, as: ada)
    #expect(
      try server.refusals("createPhoto(input: {url: $url})", ["url: URL!": .string(url)], as: ada)
        == [Refusal("REJECTED_PHOTO", "input", "url")])
  }

  @Test func `what staff has refused is given to staff alone, whoever sends it`() throws {
    let server = try server
    let data = try server.data()
    let (ada, bob) = (try data.person("ada"), try data.person("bob"))
    let staff = try data.person("staff", roles: ["MEMBER", "STAFF"])
    let bytes = TestPicture.png(width: 80, height: 60)
    let url = try server.upload(bytes, as: ada)
    let made = try server.mutate(
      "createPhoto(input: {url: $url})", "photo { id square: url(shape: SQUARE) }",
      ["url: URL!": .string(url)], as: ada)
    let square = try #require(made.at("photo.square")?.string)
    #expect(square != url)
    func get(_ url: String, as person: Person?) throws -> HTTPClients.Response {
      try server.photo(
        at: url, headers: person.map { [("Authorization", "Bearer \($0.token)")] } ?? [])
    }
    func moderate(_ state: String) throws {
      try server.mutate(
        "moderatePhoto(photoId: $id, state: \(state))", "photo { id }",
        ["id: ID!": try #require(made.at("photo.id"))], as: staff)
    }
    let tag = try #require(get(url, as: nil).header("ETag"))
    try moderate("REJECTED")
    for url in [url, square] {
      for person in [nil, ada, bob] {
        let refused = try get(url, as: person)
        #expect(refused.status == 404)
        #expect(refused.header("Cache-Control") == "no-store")
      }
      let given = try get(url, as: staff)
      #expect(given.status == 200)
      #expect(given.header("Cache-Control") == "private, no-store")
    }
    // Not even that it is the same still.
    #expect(try server.photo(at: url, headers: [("If-None-Match", tag)]).status == 404)
    #expect(try server.send("HEAD", url).status == 404)
    let malformed = [("Authorization", "Bearer nobody-has-this")]
    #expect(try server.photo(at: url, headers: malformed).status == 404)

    // The same bytes are refused to everybody else, also when nobody has the first photo any more.
    func sent(by person: Person) throws {
      #expect(try server.upload(bytes, as: person) == url)
      for url in [url, square] {
        for reader in [nil, ada, bob] { #expect(try get(url, as: reader).status == 404) }
        #expect(try get(url, as: staff).status == 200)
      }
      #expect(
        try server.refusals(
          "createPhoto(input: {url: $url})", ["url: URL!": .string(url)], as: person)
          == [Refusal("REJECTED_PHOTO", "input", "url")])
    }
    try sent(by: bob)
    try moderate("APPROVED")
    #expect(try get(square, as: nil).status == 200)
    try server.mutate(
      "createPhoto(input: {url: $url})", "photo { id }", ["url: URL!": .string(url)], as: bob)
    // And a decision about either is one about both.
    try moderate("REJECTED")
    #expect(
      try data.run("SELECT moderation::text FROM photo WHERE owner_id = $1", [bob])
        == [["REJECTED"]])
    try data.run("DELETE FROM upload WHERE owner_id IN ($1, $2)", [ada, bob])
    #expect(try get(url, as: staff).status == 404)
    try sent(by: bob)
  }

  @Test func `a photo that waits is its owner's and staff's, and no cache keeps it`() throws {
    let server = try moderated(by: "echo PENDING")
    defer { server.stop() }
    let data = try server.data()
    let (ada, bob) = (try data.person("ada"), try data.person("bob"))
    let staff = try data.person("staff", roles: ["MEMBER", "STAFF"])
    let bytes = TestPicture.png(width: 90, height: 60)
    let url = try server.upload(bytes, as: ada)
    func answers(_ url: String, _ readers: [Person?]) throws -> [String] {
      try readers.map { reader in
        let response = try server.photo(
          at: url, headers: reader.map { [("Authorization", "Bearer \($0.token)")] } ?? [])
        return "\(response.status) \(response.header("Cache-Control") ?? "")"
      }
    }
    let (own, none) = ("200 private, no-store", "404 no-store")
    let all = "200 public, max-age=31536000, immutable"
    #expect(try answers(url, [nil, bob, ada, staff]) == [none, none, own, own])
    let made = try server.mutate(
      "createPhoto(input: {url: $url})", "photo { id square: url(shape: SQUARE) }",
      ["url: URL!": .string(url)], as: ada)
    let square = try #require(made.at("photo.square")?.string)
    for url in [url, square] {
      #expect(try answers(url, [nil, bob, ada, staff]) == [none, none, own, own])
      #expect(try server.send("HEAD", url).status == 404)
    }
    // Who sends the same bytes has a photo that waits as well.
    #expect(try server.upload(bytes, as: bob) == url)
    #expect(try answers(url, [nil, bob, ada]) == [none, own, own])
    try server.mutate(
      "moderatePhoto(photoId: $id, state: APPROVED)", "photo { id }",
      ["id: ID!": try #require(made.at("photo.id"))], as: staff)
    for url in [url, square] { #expect(try answers(url, [nil, bob]) == [all, all]) }
  }

  @Test func `uploads that nobody used are forgotten, and so are those of people who are gone`()
    throws
  {
    let folder = try TemporaryFolder()
    let store = try PictureFolder(folder.path)
    let service = try TestPictures.service(store: store)
    let server = try GraphServer(
      database: TestCluster.newDatabase(migrated: true), settings: { $0.pictures = service })
    defer { server.stop() }
    let data = try server.data()
    let (ada, bob) = (try data.person("ada"), try data.person("bob"))
    let used = try server.upload(TestPicture.png(), as: ada)
    try server.mutate(
      "createPhoto(input: {url: $url})", "photo { id }", ["url: URL!": .string(used)], as: ada)
    let unused = try server.upload(TestPicture.png(), as: ada)
    let young = try server.upload(TestPicture.png(), as: ada)
    let shared = TestPicture.png()
    let both = try server.upload(shared, as: bob)
    #expect(try server.upload(shared, as: ada) == both)
    let gone = try server.upload(TestPicture.png(), as: bob)
    for url in [both, gone] {
      let person = url == both ? ada : bob
      try server.mutate(
        "createPhoto(input: {url: $url})", "photo { id }", ["url: URL!": .string(url)], as: person)
    }
    var configuration = try PostgresConfiguration(
      TestCluster.connectionString(server.database, as: ServerRole.writer))
    configuration.isReadOnly = false
    let sweeper = PictureSweeper(service, database: configuration)
    #expect(try sweeper.sweep() == 0)

    for url in [both, gone] {
      #expect(try server.photo(at: url.replacing(".png", with: "-s30.png")).status == 200)
    }
    // A day later, and Bob leaves.
    try data.run(
      "UPDATE upload SET uploaded_at = now() - interval '25 hours' WHERE path <> $1", [young])
    for file in try FileManager.default.subpathsOfDirectory(atPath: folder.path)
    where file.contains(".") {
      try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSinceNow: -26 * 3600)],
        ofItemAtPath: folder.path + "/" + file)
    }
    try data.run("SELECT delete_node($1)", [bob])
    #expect(try data.run("SELECT forget_uploads()")[0][0] == "1")
    // Two pictures, and the square of one that somebody looked at.
    #expect(try sweeper.sweep() == 3)
    for (url, status) in [(used, 200), (unused, 404), (young, 200), (both, 200), (gone, 404)] {
      #expect(try server.photo(at: url).status == status, "\(url)")
    }
    #expect(try sweeper.sweep() == 0)
  }

  @Test func `nobody keeps any number of photos that they do not use`() throws {
    let server = try server
    let data = try server.data()
    let ada = try data.person("ada")
    let bytes = TestPicture.png()
    let url = try server.upload(bytes, as: ada)
    try data.run(
      """
      INSERT INTO upload (owner_id, path, width, height, moderation)
      SELECT $1, '/photos/' || lpad(n::text, 64, '0') || '.png', 1, 1, 'APPROVED'
      FROM generate_series(1, 199) n
      """, [ada])
    let refused = try server.post(photo: TestPicture.png(), as: ada)
    #expect(refused.status == 429)
    #expect(try code(refused) == "RATE_LIMITED")
    // What is there may be sent again, and using it makes room.
    #expect(try server.upload(bytes, as: ada) == url)
    try server.mutate(
      "createPhoto(input: {url: $url})", "photo { id }", ["url: URL!": .string(url)], as: ada)
    #expect(try server.post(photo: TestPicture.png(), as: ada).status == 201)
  }

  // MARK: - The loops

  @Test func `a decoder that takes its time holds up nobody else, and few wait for it`() throws {
    let gate = try TemporaryFolder()
    // It reads from a pipe that nobody writes to until the test does.
    let made = unsafe mkfifo(gate.path + "/gate", 0o666)
    #expect(made == 0)
    unsafe chmod(gate.path + "/gate", 0o666)
    let service = try TestPictures.service {
      $0.maker.program = ["/bin/sh", "-c", "read word < \(gate.path)/gate; exit 1"]
      $0.making.concurrency = 1
      $0.making.maximumWaiting = 2
    }
    let server = try GraphServer(
      database: TestCluster.newDatabase(migrated: true), settings: { $0.pictures = service })
    defer { server.stop() }
    let ada = try server.data().person("ada")
    // One is decoded and two wait; whoever comes then is told at once, whichever those are.
    let done = DispatchGroup()
    let statuses = Mutex<[Int]>([])
    for _ in 0..<8 {
      done.enter()
      Thread {
        let status = (try? server.post(photo: TestPicture.png(), as: ada).status) ?? 0
        statuses.withLock { $0.append(status) }
        done.leave()
      }.start()
    }
    _ = eventually { statuses.withLock { $0.count } >= 5 }
    #expect(statuses.withLock { $0 } == Array(repeating: 503, count: 5))
    // Nobody else notices, on either loop.
    for _ in 0..<20 {
      #expect(
        try server.data("{ viewer { user { id } } }", as: ada).at("viewer.user.id") == ada.json)
    }
    #expect(statuses.withLock { $0.count } == 5)
    // The decoders that wait are let go, one after the other.
    let file = try #require(FileHandle(forUpdatingAtPath: gate.path + "/gate"))
    for _ in 0..<3 { try file.write(contentsOf: Data("go\n".utf8)) }
    done.wait()
    #expect(statuses.withLock { $0 }.sorted() == [422, 422, 422, 503, 503, 503, 503, 503])
  }
}
