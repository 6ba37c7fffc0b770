/// Cards offered, asked for, owed and thanked for.
extension GraphData {
  /// A card offer; without regions it reaches the whole world.
  func offer(
    by author: Person, _ body: String = "", regions: [NodeKey] = [], limit: Int? = nil,
    isOpen: Bool = true, at time: String? = nil
  ) throws -> NodeKey {
    let offer = try post(.cardOffer, by: author, body, at: time)
    for region in regions {
      try add("card_offer_region", ["post_id": offer, "location_id": region])
    }
    try run(
      """
      UPDATE card_post SET response_limit = $1, closed_at = CASE WHEN NOT $2 THEN now() END
      WHERE post_id = \(offer)
      """, [limit, isOpen])
    return offer
  }

  func cardRequest(
    by author: Person, _ body: String = "", isOpen: Bool = true, at time: String? = nil
  ) throws -> NodeKey {
    let request = try post(.cardRequest, by: author, body, at: time)
    if !isOpen { try run("UPDATE card_post SET closed_at = now() WHERE post_id = \(request)") }
    return request
  }

  /// A card one person owes another; owed because of an offer, it counts as a response.
  func followUp(
    _ post: NodeKey, from sender: Person, to recipient: Person, state: String = "OPEN"
  ) throws -> NodeKey {
    let key = try insert(
      "follow_up",
      [
        "post_id": post, "sender_id": sender.key, "recipient_id": recipient.key, "state": state,
        "resolved_at": state == "OPEN" ? nil : "2026-03-01 12:00Z",
      ])
    try run(
      """
      UPDATE card_post SET response_count = response_count + 1
      WHERE post_id = \(post) AND post_id & 255 = \(PostTag.cardOffer.rawValue)
      """)
    return key
  }

  /// Inserts a request of a person for the address of a card request's author.
  func infoRequest(
    _ post: NodeKey, of owner: Person, by requester: Person, status: String = "PENDING"
  ) throws -> NodeKey {
    let key = try insert(
      "info_request",
      [
        "post_id": post, "owner_id": owner.key, "requester_id": requester.key, "status": status,
      ])
    try run("UPDATE card_post SET response_count = response_count + 1 WHERE post_id = \(post)")
    return key
  }

  func thankYou(
    by author: Person, _ body: String = "", tagging people: [Person], at time: String? = nil
  ) throws -> NodeKey {
    let thanks = try post(.thankYou, by: author, body, at: time)
    for person in people { try add("post_tag", ["post_id": thanks, "user_id": person.key]) }
    return thanks
  }
}
