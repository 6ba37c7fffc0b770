import JSON

extension NaiveGraph {
  /// The language, the time zone, the devices and the wishes of the viewer.
  func settings(_ field: String) throws -> NaiveValue? {
    let row = try database.list("SELECT * FROM user_setting WHERE user_id = \(viewer)").first
    switch field {
    case "locale": return .text(row?["locale"] ?? "en")
    case "timeZone": return .text(row?["time_zone"] ?? "UTC")
    case "devices":
      return .objects(
        try database.list(
          "SELECT * FROM device WHERE user_id = \(viewer) ORDER BY last_seen_at DESC, id DESC"
        ).map(device))
    case "notificationSettings": return .object(notificationSettings(row))
    default: return nil
    }
  }

  private func device(_ row: NaiveRow) -> NaiveObject {
    NaiveObject(type: "Device") { field, _ in
      switch field {
      case "id": .id(row.id())
      case "app", "platform", "locale": .optional(row[field])
      case "deviceName": .optional(row["device_name"])
      case "createdAt": .time(row["created_at"])
      case "lastSeenAt": .time(row["last_seen_at"])
      default: nil
      }
    }
  }

  private func notificationSettings(_ row: NaiveRow?) -> NaiveObject {
    NaiveObject(type: "NotificationSettings") { [unowned self] field, _ in
      switch field {
      case "rules":
        let reasons = try database.list("SELECT unnest(notification_reasons())")
        return .objects(try reasons.map { try rule($0.first ?? "") })
      case "quietHours":
        guard let from = row?["quiet_from"], let to = row?["quiet_to"] else { return .null }
        return .object(
          NaiveObject(type: "QuietHours") { field, _ in
            .text(String((field == "from" ? from : to).prefix(5)))
          })
      case "isNamingPeople": return .bool(row?["is_naming_people"] != "f")
      default: return nil
      }
    }
  }

  private func rule(_ reason: String) throws -> NaiveObject {
    let chosen = try database.list(
      "SELECT FROM notification_rule WHERE user_id = \(viewer) AND reason = '\(reason)'")
    let channels =
      if chosen.isEmpty {
        switch reason {
        case "REACTED", "VOTED": [String]()
        case "INFO_REQUESTED", "OFFER_ANSWERED", "FOLLOW_UP_UNABLE", "BOOKING_CHANGED",
          "EVENT_CANCELLED":
          ["PUSH", "EMAIL"]
        default: ["PUSH"]
        }
      } else {
        try database.list(
          """
          SELECT unnest(channels) FROM notification_rule
          WHERE user_id = \(viewer) AND reason = '\(reason)'
          """
        ).map { $0.first ?? "" }
      }
    return NaiveObject(type: "NotificationRule") { field, _ in
      switch field {
      case "reason": .text(reason)
      case "channels": .texts(channels)
      default: nil
      }
    }
  }
}
