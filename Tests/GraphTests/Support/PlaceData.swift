/// Test data about places and pictures.
extension GraphData {
  /// A photo post with its picture.
  func photoPost(
    by author: Person, _ body: String = "", at location: NodeKey? = nil, circle: NodeKey? = nil,
    visibility: String = "PUBLIC", time: String? = nil
  ) throws -> NodeKey {
    let place = try location ?? self.location("Somewhere")
    let post = try post(
      .photo, by: author, body, location: place, circle: circle, visibility: visibility, at: time)
    let photo = try squaredPhoto(of: author, named: body)
    try add("post_photo", ["post_id": post, "position": 0, "photo_id": photo])
    return post
  }

  /// As many new people as asked for.
  func people(_ count: Int, _ stem: String = "p") throws -> [Person] {
    try (0..<count).map { _ in try person(stem) }
  }

  /// Each of these people tops the subject.
  func top(_ subject: NodeKey, by people: some Sequence<Person>) throws {
    for person in people { try react(person, "TOP", to: subject) }
  }
}
