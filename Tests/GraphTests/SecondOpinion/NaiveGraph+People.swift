import GraphQLPlanning
import JSON

extension NaiveGraph {
  /// Returns a person in a field that must name one: a hidden person has only a name and a picture.
  func namedUser(_ id: Int64) throws -> NaiveObject? {
    try hidden.contains(id) ? maskedUser(id) : user(id)
  }

  func maskedUser(_ id: Int64) throws -> NaiveObject? {
    guard let row = try database.row("app_user", id) else { return nil }
    return NaiveObject(type: "User") { [unowned self] field, arguments in
      switch field {
      case "id": .id(id)
      case "username": .text(row.text("username"))
      case "displayName": .text(row.text("display_name"))
      case "avatar": try avatar(row)
      case "bio": .text("")
      case "roles": .texts(["MEMBER"])
      case "joinedAt": .time("1970-01-01 00:00:00+00")
      case "website", "home", "cardPreference", "trainerProfile": .null
      case "thankYouScore": .int(0)
      case "shipsTo": .list([])
      case "viewerIsFollowing", "isFollowingViewer": .bool(false)
      case "viewerIsBlocking": .bool(try isBlocking(id))
      case "posts", "taggedIn": try posts([], arguments, order: field == "posts" ? nil : "ID")
      case "knownFollowers": try connection("UserConnection", [], arguments, size: 3)
      case "followers", "following":
        try connection(
          "FollowConnection", [], arguments, order: arguments.string("orderBy") ?? "",
          extra: followTexts(field, row, count: 0))
      default: nil
      }
    }
  }

  private func isBlocking(_ id: Int64) throws -> Bool {
    try database.ids("SELECT blocked_id FROM block WHERE blocker_id = \(viewer)").contains(id)
  }

  private func avatar(_ row: NaiveRow) throws -> NaiveValue {
    guard let photo = row.optionalID("avatar_id"), try showsPhoto(photo) else { return .null }
    return .object(try self.photo(photo))
  }

  func user(_ id: Int64) throws -> NaiveObject? {
    guard let row = try database.row("app_user", id) else { return nil }
    return NaiveObject(type: "User") { [unowned self] field, arguments in
      switch field {
      case "id": return .id(id)
      case "username": return .text(row.text("username"))
      case "displayName": return .text(row.text("display_name"))
      case "avatar": return try avatar(row)
      case "bio": return .text(row.text("bio"))
      case "website": return .optional(row["website"])
      case "home": return .object(try row.optionalID("home_id").flatMap(location))
      case "roles":
        return .texts(
          try database.list("SELECT unnest(roles) FROM app_user WHERE id = \(id)")
            .map { $0.first ?? "" })
      case "joinedAt": return .time(row["joined_at"])
      case "posts":
        return try posts(database.ids("SELECT id FROM post WHERE author_id = \(id)"), arguments)
      case "taggedIn":
        return try posts(
          database.ids("SELECT post_id FROM post_tag WHERE user_id = \(id)"), arguments,
          order: "ID")
      case "followers", "following": return try follows(field, row, arguments)
      case "knownFollowers":
        var edges: [Edge] = []
        for follow in try database.list("SELECT * FROM follow WHERE followee_id = \(id)") {
          let follower = follow.id("follower_id")
          guard following.contains(follower), try seesUser(follower) else { continue }
          edges.append(
            Edge(
              node: { try self.user(follower) },
              keys: [.textDown(follow.text("followed_at")), .down(follower)]))
        }
        return try connection("UserConnection", edges, arguments, size: 3)
      case "thankYouScore":
        let tags = try database.ids("SELECT post_id FROM post_tag WHERE user_id = \(id)")
        return .int(
          try tags.count {
            try $0 & 255 == 21 && database.row("post", $0)?["visibility"] == "PUBLIC"
          })
      case "cardPreference": return .optional(row["card_preference"])
      case "shipsTo":
        return try locationsByName(
          database.ids("SELECT location_id FROM user_ships_to WHERE user_id = \(id)"))
      case "trainerProfile":
        let roles = try database.list("SELECT unnest(roles) FROM app_user WHERE id = \(id)")
        return roles.contains { $0.first == "TRAINER" } ? .object(trainerProfile(id)) : .null
      case "viewerIsFollowing": return .bool(following.contains(id))
      case "isFollowingViewer":
        return .bool(
          try database.ids("SELECT follower_id FROM follow WHERE followee_id = \(viewer)")
            .contains(id))
      case "viewerIsBlocking": return .bool(try isBlocking(id))
      default: return nil
      }
    }
  }

  private func follows(
    _ field: String, _ row: NaiveRow, _ arguments: NaiveArguments
  ) throws -> NaiveValue {
    let id = row.id()
    let (own, other) =
      field == "followers" ? ("followee_id", "follower_id") : ("follower_id", "followee_id")
    let search = arguments.string("search") ?? ""
    var edges: [Edge] = []
    var count = 0
    for follow in try database.list("SELECT * FROM follow WHERE \(own) = \(id)") {
      let person = follow.id(other)
      guard try seesUser(person) else { continue }
      count += 1
      if try !search.isEmpty && !hasWord(person, startingWith: search) { continue }
      let keys: [SortKey] =
        arguments.string("orderBy") == "NEWEST"
        ? [.textDown(follow.text("followed_at")), .down(person)] : try nameKeys(person)
      edges.append(
        Edge(
          node: { [unowned self] in try user(person) }, keys: keys,
          fields: ["followedAt": .time(follow["followed_at"])]))
    }
    return try connection(
      "FollowConnection", edges, arguments, order: arguments.string("orderBy") ?? "",
      extra: followTexts(field, row, count: count))
  }

  /// The heading and the line above a list of followers or of people followed.
  private func followTexts(_ field: String, _ row: NaiveRow, count: Int) -> [String: NaiveValue] {
    let people = count == 1 ? "1 person" : "\(count) people"
    let isOwn = row.id() == viewer
    let name = row.text("display_name")
    return field == "followers"
      ? [
        "title": .text("Followers"),
        "summary": .text("\(people) following \(isOwn ? "you" : name)"),
      ]
      : [
        "title": .text("Following"),
        "summary": .text("\(isOwn ? "You are" : "\(name) is") following \(people)"),
      ]
  }

  private func hasWord(_ user: Int64, startingWith search: String) throws -> Bool {
    let name = try database.row("app_user", user)?.text("name_key") ?? ""
    return Self.hasWord(name, startingWith: search)
  }

  // MARK: - Photos

  func photo(_ id: Int64) throws -> NaiveObject? {
    guard let row = try database.row("photo", id) else { return nil }
    return NaiveObject(type: "Photo") { field, arguments in
      switch field {
      case "id": return .id(id)
      case "url":
        let forms = Self.forms(of: row).filter {
          $0.shape == arguments.string("shape") ?? "ORIGINAL"
        }
        let wanted = arguments.int("width") ?? .max
        let form =
          forms.filter { $0.width >= wanted }.min { $0.width < $1.width }
          ?? forms.max { $0.width < $1.width }
        return .text(form?.path ?? row.text("url"))
      case "variants":
        let shape = arguments.string("shape")
        let forms = Self.forms(of: row).filter { shape == nil || $0.shape == shape }
          .sorted { ($0.width, $0.shape) < ($1.width, $1.shape) }
        return .objects(
          forms.map { form in
            NaiveObject(type: "PhotoVariant") { field, _ in
              switch field {
              case "shape": .text(form.shape)
              case "url": .text(form.path)
              case "width": .int(form.width)
              case "height": .int(form.height)
              default: nil
              }
            }
          })
      case "width", "height": return .optionalInt(row[field])
      case "moderation": return .text(row.text("moderation"))
      case "altText": return .optional(row["alt_text"])
      default: return nil
      }
    }
  }

  /// The forms of a picture: of one of this server the smaller ones and the squares, too.
  private static func forms(of row: NaiveRow)
    -> [(shape: String, path: String, width: Int, height: Int)]
  {
    guard row["width"] != nil, row["height"] != nil else { return [] }
    let (width, height) = (row.int("width"), row.int("height"))
    let url = row.text("url")
    var forms = [("ORIGINAL", url, width, height)]
    guard url.hasPrefix("/photos/") else { return forms }
    func named(_ suffix: String) -> String {
      url.replacing(".", with: "-\(suffix).", maxReplacements: 1)
    }
    for narrower in [160, 320, 640, 1280] where narrower < width {
      let scaled = (Double(height) * Double(narrower) / Double(width)).rounded()
      forms.append(("ORIGINAL", named("w\(narrower)"), narrower, max(1, Int(scaled))))
    }
    let side = min(width, height)
    for size in Set([160, 320, 640].map { min($0, side) }) {
      forms.append(
        ("SQUARE", size == width && size == height ? url : named("s\(size)"), size, size))
    }
    return forms
  }

  // MARK: - Circles

  func circle(_ id: Int64) throws -> NaiveObject? {
    guard let row = try database.row("circle", id) else { return nil }
    return NaiveObject(type: "Circle") { [unowned self] field, arguments in
      switch field {
      case "id": return .id(id)
      case "name", "description", "kind": return .text(row.text(field))
      case "isDefault": return .bool(row.bool("is_default"))
      case "owner": return .object(try namedUser(row.id("owner_id")))
      case "createdAt": return .time(row["created_at"])
      case "members":
        var edges: [Edge] = []
        let search = arguments.string("search") ?? ""
        for member in try database.list("SELECT * FROM circle_member WHERE circle_id = \(id)") {
          let person = member.id("user_id")
          guard try seesUser(person) else { continue }
          if try !search.isEmpty && !hasWord(person, startingWith: search) { continue }
          edges.append(
            Edge(
              node: { try self.user(person) }, keys: try nameKeys(person),
              fields: ["role": .text(member.text("role")), "joinedAt": .time(member["joined_at"])]))
        }
        return try connection("MemberConnection", edges, arguments)
      case "posts":
        return try posts(database.ids("SELECT id FROM post WHERE circle_id = \(id)"), arguments)
      case "viewerRole":
        let members = try database.list("SELECT * FROM circle_member WHERE circle_id = \(id)")
        return .optional(members.first { $0.id("user_id") == viewer }?["role"])
      default: return try comments(field, of: id, arguments)
      }
    }
  }

  func circleKeys(_ id: Int64) throws -> [SortKey] {
    [.textUp(try database.row("circle", id)?.text("name").lowercased() ?? ""), .up(id)]
  }
}
