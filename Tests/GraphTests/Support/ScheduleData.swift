/// Test data about calendars.
extension GraphData {
  func attend(_ person: Person, _ event: NodeKey, _ status: String = "GOING") throws {
    try add("attendance", ["event_id": event, "user_id": person.key, "status": status])
  }

  func trainer(_ stem: String = "trainer", name: String? = nil) throws -> Person {
    try person(stem, name: name, roles: ["TRAINER"])
  }

  /// Something that these trainers teach, an hour long.
  func program(
    _ title: String, _ training: String = "PERSONAL", trainers: [Person], location: NodeKey? = nil
  ) throws -> NodeKey {
    let key = try insert(
      "program",
      [
        "title": title, "training": training, "location_id": location, "duration_minutes": 60,
      ])
    for trainer in trainers {
      try add("program_trainer", ["program_id": key, "trainer_id": trainer.key])
    }
    return key
  }

  /// An hour of a program.
  func classSession(
    _ program: NodeKey, by trainer: Person, at time: String, capacity: Int = 1
  ) throws -> NodeKey {
    let rows = try run(
      """
      INSERT INTO class_session (program_id, trainer_id, starts_at, ends_at, capacity)
      VALUES ($1, $2, $3::timestamptz, $3::timestamptz + interval '1 hour', $4) RETURNING id
      """, [program, trainer, time, capacity])
    return NodeKey(Int64(rows[0][0] ?? "") ?? 0)
  }

  @discardableResult
  func book(_ person: Person, _ session: NodeKey, isCancelled: Bool = false) throws -> NodeKey {
    if !isCancelled {
      try run("UPDATE class_session SET booked_count = booked_count + 1 WHERE id = \(session)")
    }
    return try insert(
      "booking",
      [
        "session_id": session, "user_id": person.key, "cancelled_at": isCancelled ? "now" : nil,
      ])
  }
}
