import JSON

extension NaiveGraph {
  /// `Viewer.moderation`, for staff.
  func moderation() -> NaiveObject {
    NaiveObject(type: "Moderation") { [unowned self] field, arguments in
      switch field {
      case "flags":
        let reason = arguments.string("reason")
        let isOpen = arguments.bool("isOpen")
        let edges = try database.list("SELECT * FROM flag").compactMap { row -> Edge? in
          let rank: Int64 = row["resolved_at"] == nil ? 1 : 0
          if let isOpen, isOpen != (rank == 1) { return nil }
          if let reason, row["reason"] != reason { return nil }
          return Edge(node: { self.flag(row) }, keys: [.down(rank), .down(row.id())])
        }
        return try connection("FlagConnection", edges, arguments)
      case "flagged":
        let open = try database.list("SELECT * FROM flag").filter { $0["resolved_at"] == nil }
        let edges = Dictionary(grouping: open) { $0.id("subject_id") }.compactMap {
          subject, flags -> Edge? in
          if let reason = arguments.string("reason"),
            !flags.contains(where: { $0["reason"] == reason })
          {
            return nil
          }
          let first = flags.map { $0.text("created_at") }.min() ?? ""
          return Edge(
            node: { self.flagged(subject, flags, since: first) },
            keys: [.down(Int64(flags.count)), .textUp(first), .up(subject)])
        }
        return try connection("FlaggedConnection", edges, arguments)
      case "photos":
        let edges = try database.ids("SELECT id FROM photo WHERE moderation = 'PENDING'").map {
          id in
          Edge(node: { try self.photo(id) }, keys: [.up(id)])
        }
        return try connection("PhotoConnection", edges, arguments)
      case "suspendedUsers":
        let now = NaiveTime.now()
        let edges = try database.list("SELECT id, suspended_until FROM app_user").filter {
          guard let until = $0["suspended_until"], until == "infinity" || until > now else {
            return false
          }
          return try seesUser($0.id())
        }.map { row in
          Edge(node: { try self.user(row.id()) }, keys: try nameKeys(row.id()))
        }
        return try connection("UserConnection", edges, arguments)
      default: return nil
      }
    }
  }

  private func flagged(_ subject: Int64, _ flags: [NaiveRow], since first: String) -> NaiveObject {
    NaiveObject(type: "FlaggedSubject") { [unowned self] field, _ in
      switch field {
      case "subjectId": return .id(subject)
      case "subject": return .object(try node(subject))
      case "openFlagCount": return .int(flags.count)
      case "flaggedAt": return .time(first)
      case "flags": return .objects(flags.sorted { $0.id() < $1.id() }.prefix(20).map { flag($0) })
      default: return nil
      }
    }
  }

  private func flag(_ row: NaiveRow) -> NaiveObject {
    func person(_ column: String) throws -> NaiveValue {
      guard let id = row.optionalID(column), try seesUser(id) else { return .null }
      return .object(try user(id))
    }
    return NaiveObject(type: "Flag") { [unowned self] field, _ in
      switch field {
      case "subjectId": return .id(row.id("subject_id"))
      case "subject": return .object(try node(row.id("subject_id")))
      case "user": return try person("user_id")
      case "reason": return .text(row.text("reason"))
      case "note", "resolution": return .optional(row[field])
      case "createdAt": return .time(row["created_at"])
      case "isOpen": return .bool(row["resolved_at"] == nil)
      case "resolvedAt": return .time(row["resolved_at"])
      case "resolvedBy": return try person("resolved_by_id")
      default: return nil
      }
    }
  }
}
