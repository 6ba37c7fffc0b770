import Glibc
import GraphQLPlanning
import JSON

extension NaiveGraph {
  func location(_ id: Int64) throws -> NaiveObject? {
    guard let row = try database.row("location", id) else { return nil }
    return NaiveObject(type: "Location") { [unowned self] field, arguments in
      switch field {
      case "id": return .id(id)
      case "name", "level": return .text(row.text(field))
      case "placeType": return .optional(row["place_type"])
      case "gmapsId": return .optional(row["gmaps_id"])
      case "coordinates":
        guard let latitude = row.double("latitude"), let longitude = row.double("longitude") else {
          return .null
        }
        return .object(Self.coordinates(latitude, longitude))
      case "parent": return .object(try row.optionalID("parent_id").flatMap(location))
      case "ancestors": return .objects(try ancestors(id).compactMap { try location($0) })
      case "popularity": return .int(Int(try popularity(id)))
      case "postCount":
        let posts = try postsHere(id).filter {
          $0["visibility"] == "PUBLIC" && !hidden.contains($0.id("author_id"))
        }
        return .int(posts.count)
      case "posts":
        let part = arguments.string("by") ?? "EVERYONE"
        let network = try part == "EVERYONE" ? nil : self.network(part)
        let posts = try postsHere(id).filter { network?.contains($0.id("author_id")) ?? true }
        return try self.posts(posts.map { $0.id() }, arguments)
      case "visitors":
        let part = arguments.string("by") ?? "EVERYONE"
        let network = try part == "EVERYONE" ? nil : self.network(part)
        var latest: [Int64: String] = [:]
        for post in try postsHere(id) where try seesPost(post.id()) {
          let author = post.id("author_id")
          let time = try database.row("post", post.id())?.text("created_at") ?? ""
          guard network?.contains(author) ?? true else { continue }
          latest[author] = max(latest[author] ?? time, time)
        }
        return try connection(
          "UserConnection",
          latest.map { author, time in
            Edge(node: { try self.user(author) }, keys: [.textDown(time), .down(author)])
          }, arguments)
      default:
        return try comments(field, of: id, arguments) ?? reactions(field, of: id, arguments)
      }
    }
  }

  static func coordinates(_ latitude: Double, _ longitude: Double) -> NaiveObject {
    NaiveObject(type: "Coordinates") { field, _ in
      switch field {
      case "latitude": .leaf(.value(.number("\(latitude)")))
      case "longitude": .leaf(.value(.number("\(longitude)")))
      default: nil
      }
    }
  }

  private func postsHere(_ id: Int64) throws -> [NaiveRow] {
    try database.list("SELECT id, author_id, visibility FROM post WHERE location_id = \(id)")
  }

  /// From the country down to the parent.
  func ancestors(_ id: Int64) throws -> [Int64] {
    guard let parent = try database.row("location", id)?.optionalID("parent_id") else { return [] }
    return try ancestors(parent) + [parent]
  }

  /// Tops of the place plus reactions to its public posts.
  func popularity(_ id: Int64) throws -> Int64 {
    if let known = database.popularities[id] { return known }
    var sum = try score(id)
    for post in try postsHere(id) where post["visibility"] == "PUBLIC" {
      sum += try score(post.id())
    }
    database.popularities[id] = sum
    return sum
  }

  /// Metres along the surface of the earth (a sphere of 6371 km).
  static func distance(
    _ latitude: Double, _ longitude: Double, _ toLatitude: Double, _ toLongitude: Double
  ) -> Double {
    func radians(_ degrees: Double) -> Double { degrees * .pi / 180 }
    let north = sin(radians(latitude - toLatitude) / 2)
    let east = sin(radians(longitude - toLongitude) / 2)
    let half =
      north * north + cos(radians(toLatitude)) * cos(radians(latitude)) * east * east
    return 2 * 6_371_000 * asin(min(1, half.squareRoot()))
  }

  /// Metres from the centre of a `near` filter; nil without coordinates.
  private func distance(_ row: NaiveRow, _ near: NaiveArguments) -> Double? {
    guard let center = near.object("center"), let latitude = row.double("latitude"),
      let longitude = row.double("longitude"), let toLatitude = center.double("latitude"),
      let toLongitude = center.double("longitude")
    else { return nil }
    return Self.distance(latitude, longitude, toLatitude, toLongitude)
  }

  private func isNear(_ row: NaiveRow, _ near: NaiveArguments) -> Bool {
    // The radius is at most 500 km.
    guard let distance = distance(row, near), let radius = near.double("radiusMeters") else {
      return false
    }
    return distance <= radius
  }

  private func isInside(_ row: NaiveRow, _ box: NaiveArguments) -> Bool {
    guard let latitude = row.double("latitude"), let longitude = row.double("longitude"),
      let south = box.double("south"), let north = box.double("north"),
      let west = box.double("west"), let east = box.double("east")
    else { return false }
    return south <= latitude && latitude <= north
      && (west <= east
        ? west <= longitude && longitude <= east : west <= longitude || longitude <= east)
  }

  func locations(_ arguments: NaiveArguments) throws -> NaiveValue {
    let filter = arguments.object("filter") ?? NaiveArguments()
    let near = filter.object("near")
    let order = arguments.string("orderBy") ?? "POPULAR"
    var edges: [Edge] = []
    for id in try database.ids("SELECT id FROM location") {
      guard let row = try database.row("location", id) else { continue }
      if let near, !isNear(row, near) { continue }
      if let box = filter.object("within"), !isInside(row, box) { continue }
      if let within = filter.id("withinId"), try !ancestors(id).contains(within) { continue }
      if let levels = filter.strings("levels"), !levels.contains(row.text("level")) { continue }
      if let types = filter.strings("placeTypes"), !types.contains(row.text("place_type")) {
        continue
      }
      let reviews = try database.ids("SELECT author_id FROM comment WHERE subject_id = \(id)")
        .count { !hidden.contains($0) }
      if let least = filter.int("minReviews"), reviews < least { continue }
      if let search = filter.string("search"), !search.isEmpty,
        !matchesBeginnings(row.text("name_key"), search)
      {
        continue
      }
      if let part = filter.string("visitedBy"), part != "EVERYONE",
        try !isVisited(id, by: network(part))
      {
        continue
      }
      if let part = filter.string("toppedBy"), part != "EVERYONE",
        try !isTopped(id, by: network(part))
      {
        continue
      }
      if filter.bool("isRecommended") == true {
        let friends = try network("FOLLOWING").union(network("FRIENDS_OF_FRIENDS"))
        let hasBeenThere = try postsHere(id).contains { $0.id("author_id") == viewer }
        if try hasBeenThere || !isTopped(id, by: friends) { continue }
      }
      let keys: [SortKey] =
        switch order {
        case "NEAREST":
          [near.flatMap { distance(row, $0) }.map { .doubleUp($0) } ?? .nullLast, .up(id)]
        case "MOST_REVIEWED": [.down(Int64(reviews)), .down(id)]
        case "NAME": [.textUp(row.text("name_key")), .up(id)]
        default: [.down(try popularity(id)), .down(id)]
        }
      edges.append(
        Edge(
          node: { [unowned self] in try location(id) }, keys: keys,
          fields: [
            "distanceMeters": near.flatMap { distance(row, $0) }.map { .leaf(.number($0)) } ?? .null
          ]))
    }
    return try connection("LocationConnection", edges, arguments, order: order)
  }

  private func isVisited(_ place: Int64, by people: Set<Int64>) throws -> Bool {
    try postsHere(place).contains { try people.contains($0.id("author_id")) && seesPost($0.id()) }
  }

  private func isTopped(_ place: Int64, by people: Set<Int64>) throws -> Bool {
    try database.list("SELECT * FROM reaction WHERE subject_id = \(place)")
      .contains { $0["kind"] == "TOP" && people.contains($0.id("user_id")) }
  }

  // MARK: - Posts of everybody

  func posts(matching arguments: NaiveArguments) throws -> NaiveValue {
    let filter = arguments.object("filter") ?? NaiveArguments()
    let kinds = filter.strings("kinds").map(Self.tags)
    let near = filter.object("near")
    let network = try filter.string("by").flatMap { $0 == "EVERYONE" ? nil : try self.network($0) }
    var fitting: [Int64] = []
    for id in try database.ids("SELECT id FROM post WHERE visibility = 'PUBLIC'") {
      if let kinds, !kinds.contains(Int(id & 255)) { continue }
      guard let row = try database.row("post", id) else { continue }
      if let from = filter.time("from"), row.text("created_at") < from { continue }
      if let to = filter.time("to"), row.text("created_at") >= to { continue }
      if let network, !network.contains(row.id("author_id")) { continue }
      if let search = filter.string("search"), !search.isEmpty,
        !matches(row.text("body"), search)
      {
        continue
      }
      if let isOpen = filter.bool("isOpen") {
        guard let card = try database.row("card_post", id, key: "post_id"),
          card.bool("is_open") == isOpen
        else { continue }
      }
      let place = row.optionalID("location_id")
      if let within = filter.id("withinId") {
        guard let place, try place == within || ancestors(place).contains(within) else { continue }
      }
      if let near {
        guard let place, let location = try database.row("location", place), isNear(location, near)
        else { continue }
      }
      if let target = filter.id("sendsToId") {
        guard id & 255 == 19 else { continue }
        let regions = try database.ids(
          "SELECT location_id FROM card_offer_region WHERE post_id = \(id)")
        let around =
          try database.row("location", target) == nil
          ? [] : ancestors(target) + [target]
        if !regions.isEmpty, !regions.contains(where: around.contains) { continue }
      }
      fitting.append(id)
    }
    return try posts(fitting, arguments)
  }

  // MARK: - Products

  func product(_ id: Int64) throws -> NaiveObject? {
    guard let row = try database.row("product", id) else { return nil }
    return NaiveObject(type: "Product") { [unowned self] field, arguments in
      switch field {
      case "id": return .id(id)
      case "name", "brand", "description", "retailer": return .text(row.text(field))
      case "buyUrl": return .text(row.text("buy_url"))
      case "price":
        guard let amount = row["price"] else { return .null }
        return .object(
          NaiveObject(type: "Money") { field, _ in
            switch field {
            case "amount": .text(amount)
            case "currency": .text(row.text("currency"))
            default: nil
            }
          })
      case "photo":
        guard let photo = row.optionalID("photo_id"), try showsPhoto(photo) else { return .null }
        return .object(try self.photo(photo))
      case "posts":
        return try posts(
          database.ids("SELECT post_id FROM votable_post WHERE product_id = \(id)"), arguments,
          order: "ID")
      case "isAvailable": return .bool(row.bool("is_available"))
      case "viewerHasOnShoppingList":
        return .bool(
          try database.ids("SELECT user_id FROM shopping_list_item WHERE product_id = \(id)")
            .contains(viewer))
      default: return try reactions(field, of: id, arguments)
      }
    }
  }

  func products(_ arguments: NaiveArguments) throws -> NaiveValue {
    let order = arguments.string("orderBy") ?? "NEWEST"
    var edges: [Edge] = []
    for id in try database.ids("SELECT id FROM product") {
      guard let row = try database.row("product", id) else { continue }
      if !row.bool("is_available") { continue }
      if let retailer = arguments.string("retailer"), row["retailer"] != retailer { continue }
      let words = "\(row.text("name")) \(row.text("brand")) \(row.text("description"))"
      if let search = arguments.string("search"), !search.isEmpty, !matches(words, search) {
        continue
      }
      let keys: [SortKey] =
        switch order {
        case "POPULAR": [.down(try score(id)), .down(id)]
        case "NAME": [.textUp(row.text("name")), .up(id)]
        case "PRICE_ASC": [row.double("price").map { .doubleUp($0) } ?? .nullLast, .up(id)]
        case "PRICE_DESC": [row.double("price").map { .doubleUp(-$0) } ?? .nullLast, .down(id)]
        default: [.down(id)]
        }
      edges.append(Edge(node: { [unowned self] in try product(id) }, keys: keys))
    }
    return try connection("ProductConnection", edges, arguments, order: order)
  }

  // MARK: - Classes

  func program(_ id: Int64) throws -> NaiveObject? {
    guard let row = try database.row("program", id) else { return nil }
    return NaiveObject(type: "Program") { [unowned self] field, arguments in
      switch field {
      case "id": .id(id)
      case "title", "description", "training": .text(row.text(field))
      case "location": .object(try row.optionalID("location_id").flatMap(location))
      case "durationMinutes": .int(row.int("duration_minutes"))
      case "isArchived": .bool(row.bool("is_archived"))
      case "trainers":
        try peopleByName(
          database.ids("SELECT trainer_id FROM program_trainer WHERE program_id = \(id)"))
      case "classSessions":
        try sessions(
          database.ids("SELECT id FROM class_session WHERE program_id = \(id)"), arguments)
      default: nil
      }
    }
  }

  func trainerProfile(_ id: Int64) -> NaiveObject {
    NaiveObject(type: "TrainerProfile") { [unowned self] field, arguments in
      switch field {
      case "programs":
        try programs(
          database.ids("SELECT program_id FROM program_trainer WHERE trainer_id = \(id)").filter {
            try database.row("program", $0)?.bool("is_archived") == false
          })
      case "classSessions":
        try sessions(
          database.ids("SELECT id FROM class_session WHERE trainer_id = \(id)"), arguments)
      default: nil
      }
    }
  }

  func programs(_ ids: [Int64]) throws -> NaiveValue {
    let keyed = try ids.map {
      ($0, [SortKey.textUp(try database.row("program", $0)?.text("title") ?? ""), .up($0)])
    }
    return .objects(
      try keyed.sorted { SortKey.compare($0.1, $1.1) < 0 }.compactMap { try program($0.0) })
  }

  private func sessions(_ ids: [Int64], _ arguments: NaiveArguments) throws -> NaiveValue {
    var edges: [Edge] = []
    for id in ids {
      guard let row = try database.row("class_session", id), let from = arguments.time("from"),
        let to = arguments.time("to")
      else { continue }
      let start = row.text("starts_at")
      guard start >= from, start < to else { continue }
      if let trainer = arguments.id("trainerId"), row.id("trainer_id") != trainer { continue }
      if let program = arguments.id("programId"), row.id("program_id") != program { continue }
      if arguments.bool("isBookable") == true, try !isFree(row) { continue }
      edges.append(
        Edge(node: { [unowned self] in try session(id) }, keys: [.textUp(start), .up(id)]))
    }
    return try connection("ClassSessionConnection", edges, arguments, size: 50)
  }

  /// Seats left, to come, and its trainer not taken meanwhile.
  func isFree(_ session: NaiveRow) throws -> Bool {
    guard session.int("booked_count") < session.int("capacity"),
      session.text("starts_at") > NaiveTime.now()
    else { return false }
    for other in try database.ids(
      "SELECT id FROM class_session WHERE trainer_id = \(session.id("trainer_id"))")
    where other != session.id() {
      guard let row = try database.row("class_session", other) else { continue }
      if row.int("booked_count") > 0, row.text("starts_at") < session.text("ends_at"),
        row.text("ends_at") > session.text("starts_at")
      {
        return false
      }
    }
    return true
  }

  func session(_ id: Int64) throws -> NaiveObject? {
    guard let row = try database.row("class_session", id),
      let program = try database.row("program", row.id("program_id"))
    else { return nil }
    return NaiveObject(type: "ClassSession") { [unowned self] field, arguments in
      switch field {
      case "id": return .id(id)
      case "title": return .text(program.text("title"))
      case "program": return .object(try self.program(program.id()))
      case "trainer": return .object(try namedUser(row.id("trainer_id")))
      case "startsAt": return .time(row["starts_at"])
      case "endsAt": return .time(row["ends_at"])
      case "location": return .object(try program.optionalID("location_id").flatMap(location))
      case "capacity": return .int(row.int("capacity"))
      case "isCancelled":
        return .bool(row["cancelled_at"] != nil)
      case "seatsLeft":
        let booked = try database.list("SELECT * FROM booking WHERE session_id = \(id)")
          .count { $0["cancelled_at"] == nil }
        return .int(row.int("capacity") - booked)
      case "viewerBooking":
        let found = try database.list("SELECT * FROM booking WHERE session_id = \(id)")
          .first { $0.id("user_id") == viewer && $0["cancelled_at"] == nil }
        return .object(try found.flatMap { try booking($0.id()) })
      case "bookings":
        var edges: [Edge] = []
        for booking in try database.list("SELECT * FROM booking WHERE session_id = \(id)") {
          guard booking.id("user_id") == viewer || row.id("trainer_id") == viewer || isStaff
          else { continue }
          if booking["cancelled_at"] != nil, arguments.bool("includeCancelled") != true { continue }
          let key = booking.id()
          edges.append(
            Edge(
              node: { [unowned self] in try self.booking(key) },
              keys: [.textUp(booking.text("created_at")), .up(key)]))
        }
        return try connection("BookingConnection", edges, arguments)
      default: return nil
      }
    }
  }

  func booking(_ id: Int64) throws -> NaiveObject? {
    guard let row = try database.row("booking", id) else { return nil }
    return NaiveObject(type: "Booking") { [unowned self] field, _ in
      switch field {
      case "id": .id(id)
      case "classSession": .object(try session(row.id("session_id")))
      case "user": .object(try namedUser(row.id("user_id")))
      case "createdAt": .time(row["created_at"])
      case "cancelledAt": .time(row["cancelled_at"])
      default: nil
      }
    }
  }

  func scheduled(_ items: [(id: Int64, start: String)], _ arguments: NaiveArguments) throws
    -> NaiveValue
  {
    let edges = items.map { item in
      Edge(
        node: { [unowned self] in try item.id & 255 == 23 ? post(item.id) : session(item.id) },
        keys: [.textUp(item.start), .up(item.id)])
    }
    return try connection("ScheduledConnection", edges, arguments, size: 100)
  }
}
