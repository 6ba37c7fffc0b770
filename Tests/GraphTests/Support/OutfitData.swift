/// Test data about outfits and products, and their authors' notifications.
extension GraphData {
  func vote(_ person: Person, _ choice: String, on post: NodeKey) throws {
    try add("vote", ["post_id": post, "user_id": person.key, "choice": choice])
  }

  /// Inserts an outfit and a product post: what is done to the one is done to the other.
  func outfitAndProductPost(by author: Person) throws -> [NodeKey] {
    [
      try post(.outfit, by: author, "Look"),
      try post(.product, by: author, "Look", product: try product("Coat")),
    ]
  }

  /// Shows photos in a post, in this order.
  func show(_ photos: [NodeKey], in post: NodeKey) throws {
    for (position, photo) in photos.enumerated() {
      try add("post_photo", ["post_id": post, "position": position, "photo_id": photo])
    }
  }

  /// A photo of 800 by 600 pixels: `/photos/ann.jpg` of the name ann, and `/photos/ann-s600.jpg` its
  /// square.
  func squaredPhoto(of owner: Person, named name: String) throws -> NodeKey {
    let photo = try photo(of: owner, url: "/photos/\(name).jpg")
    try run("UPDATE photo SET width = 800, height = 600 WHERE id = \(photo)")
    return photo
  }

  func tell(
    _ recipient: Person, _ text: String, reason: String = "FOLLOWED", by actor: Person? = nil,
    about: NodeKey? = nil, destination: String = "home", isRead: Bool = false
  ) throws -> NodeKey {
    try insert(
      "notification",
      [
        "recipient_id": recipient.key, "reason": reason, "actor_id": actor?.key, "about_id": about,
        "phrase": text, "destination": destination, "read_at": isRead ? "2026-03-01 12:00Z" : nil,
      ])
  }
}
