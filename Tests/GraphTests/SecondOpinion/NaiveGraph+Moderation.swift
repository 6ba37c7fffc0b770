import JSON

extension NaiveGraph {
  /// `Viewer.moderation`, for staff.
  func moderation() -> NaiveObject {
    NaiveObject(type: "Moderation") { [unowned self] field, arguments in
      switch field {
      case "flags":
        let edges = try database.list("SELECT * FROM flag").map { row in
          let rank: Int64 = row["resolved_at"] == nil ? 1 : 0
          return Edge(node: { self.flag(row) }, keys: [.down(rank), .down(row.id())])
        }
        return try connection("FlagConnection", edges, arguments)
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

  private func flag(_ row: NaiveRow) -> NaiveObject {
    func person(_ column: String) throws -> NaiveValue {
      guard let id = row.optionalID(column), try seesUser(id) else { return .null }
      return .object(try user(id))
    }
    return NaiveObject(type: "Flag") { [unowned self] field, _ in
      switch field {
      case "id": return .id(row.id())
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
