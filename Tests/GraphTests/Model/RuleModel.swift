import JSON

/// The rules of mutations in plain words, for one thing after the other: what each does, what it is
/// refused for, and what everybody reads afterwards. Written from section 5 and 3.4 of the domain's
/// decisions, not from the functions.
///
/// People are numbers; everything else has the id that the server gave it.
struct RuleModel {
  struct Pair: Hashable {
    let one: Int
    let other: Int
  }

  struct Circle {
    var name: String
    let isChannel: Bool
    let owner: Int
    var members: Set<Int>
  }

  struct Post {
    let kind: String
    let author: Int
    var body: String
    let circle: String?
    /// PUBLIC, CIRCLE or INVITED.
    let visibility: String
    var limit: Int?
    var isOpen = true
    var isVotable = false
    var isCancelled = false
  }

  struct Comment {
    let subject: String
    let author: Int
    let body: String
  }

  struct Reaction: Hashable {
    let subject: String
    let person: Int
    let kind: String
  }

  struct Note: Equatable {
    let recipient: Int
    let reason: String
    let actor: Int?
    let about: String
    var isRead = false
  }

  /// A request for an address, and the card that is owed once it is given; or the card that an answered
  /// offer promises.
  struct Favour {
    let post: String
    let sender: Int
    let recipient: Int
    var state: String
  }

  struct Session {
    let trainer: Int
    let seats: Int
    var bookings: [Int: String] = [:]
  }

  /// The result of a mutation.
  enum Outcome {
    case done
    case refused([Refusal])
  }

  let people: [String]
  var follows: Set<Pair> = []
  var blocks: Set<Pair> = []
  var circles: [String: Circle] = [:]
  var posts: [String: Post] = [:]
  var comments: [String: Comment] = [:]
  var reactions: Set<Reaction> = []
  var votes: [String: [Int: String]] = [:]
  var invitations: [String: [Int: String]] = [:]
  var attendance: [String: [Int: String]] = [:]
  var responses: [String: Set<Int>] = [:]
  /// The requests by their ID: the sender is the requester.
  var requests: [String: Favour] = [:]
  var cards: [Favour] = []
  var sessions: [String: Session] = [:]
  var wishes: Set<Int> = []
  var talks: [Set<Int>: [Int]] = [:]
  var notes: [Note] = []

  init(people: [String]) { self.people = people }

  // MARK: Who sees what

  func isApart(_ a: Int, _ b: Int) -> Bool {
    blocks.contains(Pair(one: a, other: b)) || blocks.contains(Pair(one: b, other: a))
  }

  func seesCircle(_ viewer: Int, _ id: String) -> Bool {
    circles[id].map { $0.isChannel || $0.members.contains(viewer) } ?? false
  }

  func seesPost(_ viewer: Int, _ id: String) -> Bool {
    guard let post = posts[id] else { return false }
    if post.author == viewer { return true }
    if isApart(viewer, post.author) { return false }
    switch post.visibility {
    case "CIRCLE": return post.circle.flatMap { circles[$0] }?.members.contains(viewer) ?? false
    case "INVITED": return invitations[id]?[viewer] != nil
    default: return true
    }
  }

  func seesComment(_ viewer: Int, _ id: String) -> Bool {
    guard let comment = comments[id], !isApart(viewer, comment.author) else { return false }
    return posts[comment.subject] != nil
      ? seesPost(viewer, comment.subject) : seesCircle(viewer, comment.subject)
  }

  func sees(_ viewer: Int, _ id: String) -> Bool {
    if let person = people.firstIndex(of: id) { return !isApart(viewer, person) }
    return seesPost(viewer, id) || seesCircle(viewer, id) || seesComment(viewer, id)
      || sessions[id] != nil || id.isEmpty
  }

  /// Returns the reason why a viewer may not name a person.
  private func fault(_ viewer: Int, _ person: Int, self isAllowed: Bool = false) -> String? {
    if viewer == person { return isAllowed ? nil : "INVALID" }
    if blocks.contains(Pair(one: person, other: viewer)) { return "NOT_FOUND" }
    return blocks.contains(Pair(one: viewer, other: person)) ? "BLOCKED" : nil
  }

  private func faults(
    _ viewer: Int, _ named: [Int], self isAllowed: Bool = false, _ path: [String]
  ) -> [Refusal] {
    named.enumerated().compactMap { place, person in
      fault(viewer, person, self: isAllowed).map { Refusal($0, at: path + ["\(place)"]) }
    }
  }

  // MARK: Telling

  private mutating func tell(
    _ recipients: [Int], _ reason: String, by actor: Int, about: String, isOnce: Bool = false
  ) {
    for person in Set(recipients).sorted() where person != actor && !isApart(person, actor) {
      guard sees(person, about) else { continue }
      // Read or not, the same is told once a day; here all is one day.
      if isOnce,
        notes.contains(where: {
          $0.recipient == person && $0.reason == reason && $0.actor == actor && $0.about == about
        })
      {
        continue
      }
      notes.append(Note(recipient: person, reason: reason, actor: actor, about: about))
    }
  }

  /// - Parameter actor: nil for any actor.
  private mutating func untell(
    _ recipients: [Int], _ reason: String, by actor: Int?, about: String
  ) {
    notes.removeAll {
      recipients.contains($0.recipient) && $0.reason == reason
        && (actor == nil || $0.actor == actor) && $0.about == about && !$0.isRead
    }
  }

  /// One unread note of a thing, however often.
  private mutating func number(_ recipient: Int, _ reason: String, by actor: Int?, about: String) {
    notes.removeAll {
      $0.recipient == recipient && $0.reason == reason && $0.about == about && !$0.isRead
    }
    notes.append(Note(recipient: recipient, reason: reason, actor: actor, about: about))
  }

  // MARK: People

  mutating func follow(_ viewer: Int, _ named: [Int]) -> Outcome {
    let faults = faults(viewer, named, ["userIds"])
    guard faults.isEmpty else { return .refused(faults) }
    for person in Set(named).sorted()
    where follows.insert(Pair(one: viewer, other: person)).inserted {
      tell([person], "FOLLOWED", by: viewer, about: people[viewer], isOnce: true)
    }
    return .done
  }

  mutating func unfollow(_ viewer: Int, _ named: [Int]) -> Outcome {
    let faults = faults(viewer, named, ["userIds"])
    guard faults.isEmpty else { return .refused(faults) }
    for person in named { follows.remove(Pair(one: viewer, other: person)) }
    untell(named, "FOLLOWED", by: viewer, about: people[viewer])
    return .done
  }

  mutating func block(_ viewer: Int, _ person: Int) -> Outcome {
    if let fault = fault(viewer, person), fault != "BLOCKED" {
      return .refused([Refusal(fault, "userId")])
    }
    blocks.insert(Pair(one: viewer, other: person))
    follows.remove(Pair(one: viewer, other: person))
    follows.remove(Pair(one: person, other: viewer))
    return .done
  }

  mutating func unblock(_ viewer: Int, _ person: Int) -> Outcome {
    blocks.remove(Pair(one: viewer, other: person))
    if let fault = fault(viewer, person) { return .refused([Refusal(fault, "userId")]) }
    return .done
  }

  // MARK: Posts

  /// Returns the errors of a post's destination.
  func place(_ viewer: Int, _ kind: String, circle: String?, visibility: String?) -> [Refusal] {
    var refusals: [Refusal] = []
    if let circle {
      if !seesCircle(viewer, circle) {
        refusals.append(Refusal("NOT_FOUND", "input", "circleId"))
      } else if let found = circles[circle], found.isChannel, found.owner != viewer,
        ["event", "announcement", "textPost"].contains(kind) || !found.members.contains(viewer)
      {
        refusals.append(Refusal("FORBIDDEN", "input", "circleId"))
      }
    }
    if visibility == "INVITED", kind != "event" {
      refusals.append(Refusal("INVALID", "input", "visibility"))
    } else if visibility == "CIRCLE", circle == nil {
      refusals.append(Refusal("REQUIRED", "input", "circleId"))
    }
    return refusals
  }

  mutating func create(
    _ viewer: Int, _ id: String, kind: String, body: String, circle: String?, visibility: String?,
    limit: Int? = nil, invited: [Int] = []
  ) {
    let isGroup = circle.flatMap { circles[$0] }.map { !$0.isChannel } ?? false
    posts[id] = Post(
      kind: kind, author: viewer, body: body, circle: circle,
      visibility: visibility ?? (isGroup ? "CIRCLE" : "PUBLIC"), limit: limit,
      isVotable: kind == "outfitPost")
    invite(viewer, id, invited)
  }

  private mutating func invite(_ viewer: Int, _ id: String, _ people: [Int]) {
    let new = people.filter {
      $0 != viewer && !isApart(viewer, $0) && invitations[id]?[$0] == nil
    }
    for person in new { invitations[id, default: [:]][person] = "PENDING" }
    tell(new, "EVENT_INVITED", by: viewer, about: id)
  }

  func mayInvite(_ viewer: Int, _ id: String, _ named: [Int]) -> [Refusal] {
    guard seesPost(viewer, id), let post = posts[id], post.kind == "event" else {
      return [Refusal("NOT_FOUND", "eventId")]
    }
    if post.author != viewer,
      post.visibility == "INVITED" || attendance[id]?[viewer] != "GOING"
    {
      return [Refusal("FORBIDDEN", "eventId")]
    }
    if post.isCancelled { return [Refusal("CLOSED", "eventId")] }
    return faults(viewer, named, ["userIds"])
  }

  mutating func inviteToEvent(_ viewer: Int, _ id: String, _ named: [Int]) -> Outcome {
    let refusals = mayInvite(viewer, id, named)
    guard refusals.isEmpty else { return .refused(refusals) }
    invite(viewer, id, named)
    return .done
  }

  func named(_ viewer: Int, _ people: [Int], _ path: [String], self isAllowed: Bool = false)
    -> [Refusal]
  {
    faults(viewer, people, self: isAllowed, path)
  }

  /// - Parameter type: the type that the mutation is for, such as `textPost`.
  mutating func update(_ viewer: Int, _ id: String, as type: String, body: String) -> Outcome {
    guard seesPost(viewer, id), posts[id].map({ Self.type(of: $0) }) == type else {
      return .refused([Refusal("NOT_FOUND", type + "Id")])
    }
    guard posts[id]?.author == viewer else { return .refused([Refusal("FORBIDDEN", type + "Id")]) }
    if posts[id]?.isCancelled == true { return .refused([Refusal("CLOSED", type + "Id")]) }
    if type == "event", posts[id]?.body != body {
      untell(guests(id), "EVENT_CHANGED", by: nil, about: id)
      tell(guests(id), "EVENT_CHANGED", by: viewer, about: id)
    }
    posts[id]?.body = body
    return .done
  }

  static func type(of post: Post) -> String {
    post.kind == "outfitPost" ? "productPost" : post.kind
  }

  /// Returns who is told of an event: invited and not declined, or perhaps coming.
  private func guests(_ id: String) -> [Int] {
    (invitations[id] ?? [:]).filter { $0.value != "DECLINED" }.map(\.key)
      + (attendance[id] ?? [:]).filter { $0.value != "NOT_GOING" }.map(\.key)
  }

  mutating func delete(_ viewer: Int, _ id: String) -> Outcome {
    guard seesPost(viewer, id) else { return .refused([Refusal("NOT_FOUND", "postId")]) }
    guard posts[id]?.author == viewer else { return .refused([Refusal("FORBIDDEN", "postId")]) }
    forget(id)
    return .done
  }

  /// Takes a thing away with all that was said about it.
  private mutating func forget(_ id: String) {
    posts[id] = nil
    for (comment, said) in comments where said.subject == id { forget(comment) }
    comments[id] = nil
    reactions = reactions.filter { $0.subject != id }
    notes.removeAll { $0.about == id }
    votes[id] = nil
    invitations[id] = nil
    attendance[id] = nil
    responses[id] = nil
    requests = requests.filter { $0.value.post != id }
    cards.removeAll { $0.post == id }
  }

  mutating func cancelEvent(_ viewer: Int, _ id: String) -> Outcome {
    guard seesPost(viewer, id), posts[id]?.kind == "event" else {
      return .refused([Refusal("NOT_FOUND", "eventId")])
    }
    guard posts[id]?.author == viewer else { return .refused([Refusal("FORBIDDEN", "eventId")]) }
    guard posts[id]?.isCancelled == false else { return .done }
    posts[id]?.isCancelled = true
    tell(guests(id), "EVENT_CANCELLED", by: viewer, about: id)
    return .done
  }

  mutating func restoreEvent(_ viewer: Int, _ id: String) -> Outcome {
    guard seesPost(viewer, id), posts[id]?.kind == "event" else {
      return .refused([Refusal("NOT_FOUND", "eventId")])
    }
    guard posts[id]?.author == viewer else { return .refused([Refusal("FORBIDDEN", "eventId")]) }
    guard posts[id]?.isCancelled == true else { return .done }
    posts[id]?.isCancelled = false
    untell(guests(id), "EVENT_CHANGED", by: nil, about: id)
    tell(guests(id), "EVENT_CHANGED", by: viewer, about: id)
    return .done
  }

  mutating func clearAttendance(_ viewer: Int, _ id: String) -> Outcome {
    guard seesPost(viewer, id), posts[id]?.kind == "event" else {
      return .refused([Refusal("NOT_FOUND", "eventId")])
    }
    guard attendance[id]?[viewer] != nil else { return .done }
    attendance[id]?[viewer] = nil
    if invitations[id]?[viewer] != nil { invitations[id]?[viewer] = "PENDING" }
    return .done
  }

  mutating func attend(_ viewer: Int, _ id: String, _ status: String) -> Outcome {
    guard seesPost(viewer, id), posts[id]?.kind == "event" else {
      return .refused([Refusal("NOT_FOUND", "eventId")])
    }
    if posts[id]?.isCancelled == true { return .refused([Refusal("CLOSED", "eventId")]) }
    attendance[id, default: [:]][viewer] = status
    if invitations[id]?[viewer] != nil {
      invitations[id]?[viewer] = status == "NOT_GOING" ? "DECLINED" : "ACCEPTED"
    }
    return .done
  }

  // MARK: What is said

  private func author(_ id: String) -> Int? { posts[id]?.author ?? comments[id]?.author }

  private func mayReact(_ viewer: Int, _ id: String, _ kind: String) -> Outcome? {
    guard seesPost(viewer, id) || seesComment(viewer, id) else {
      return .refused([Refusal("NOT_FOUND", "subjectId")])
    }
    return nil
  }

  mutating func react(_ viewer: Int, _ id: String, _ kind: String) -> Outcome {
    if let refused = mayReact(viewer, id, kind) { return refused }
    guard (posts[id] == nil) == (kind == "AGREE") else {
      return .refused([Refusal("INVALID", "kind")])
    }
    let isNew = reactions.insert(Reaction(subject: id, person: viewer, kind: kind)).inserted
    if isNew, let author = author(id) {
      tell([author], "REACTED", by: viewer, about: id, isOnce: true)
    }
    return .done
  }

  mutating func unreact(_ viewer: Int, _ id: String, _ kind: String) -> Outcome {
    if let refused = mayReact(viewer, id, kind) { return refused }
    if reactions.remove(Reaction(subject: id, person: viewer, kind: kind)) != nil,
      let author = author(id),
      !reactions.contains(where: { $0.subject == id && $0.person == viewer })
    {
      untell([author], "REACTED", by: viewer, about: id)
    }
    return .done
  }

  mutating func vote(_ viewer: Int, _ id: String, _ choice: String) -> Outcome {
    guard seesPost(viewer, id), let post = posts[id], post.isVotable else {
      return .refused([Refusal("NOT_FOUND", "postId")])
    }
    if post.author == viewer { return .refused([Refusal("FORBIDDEN", "postId")]) }
    if let earlier = votes[id]?[viewer] {
      return earlier == choice ? .done : .refused([Refusal("ALREADY_DONE", "choice")])
    }
    votes[id, default: [:]][viewer] = choice
    number(post.author, "VOTED", by: nil, about: id)
    return .done
  }

  func mayComment(_ viewer: Int, _ subject: String) -> Bool {
    seesPost(viewer, subject) || seesCircle(viewer, subject)
  }

  mutating func comment(_ viewer: Int, _ id: String, on subject: String, _ body: String) {
    comments[id] = Comment(subject: subject, author: viewer, body: body)
    var told: [Int] = []
    if let post = posts[subject] {
      told = [post.author]
      told += (attendance[subject] ?? [:]).filter { $0.value != "NOT_GOING" }.map(\.key)
    } else if let circle = circles[subject] {
      told = circle.isChannel ? [circle.owner] : Array(circle.members)
    }
    tell(told, "COMMENTED", by: viewer, about: id)
  }

  mutating func deleteComment(_ viewer: Int, _ id: String) -> Outcome {
    guard let comment = comments[id] else { return .refused([Refusal("NOT_FOUND", "commentId")]) }
    let owner = posts[comment.subject]?.author ?? circles[comment.subject]?.owner
    guard viewer == comment.author || viewer == owner else {
      return .refused([Refusal(seesComment(viewer, id) ? "FORBIDDEN" : "NOT_FOUND", "commentId")])
    }
    forget(id)
    return .done
  }

  // MARK: Circles

  mutating func createCircle(_ viewer: Int, _ id: String, _ name: String, _ members: [Int]) {
    circles[id] = Circle(name: name, isChannel: false, owner: viewer, members: [viewer])
    add(viewer, id, members)
  }

  private mutating func add(_ viewer: Int, _ id: String, _ people: [Int]) {
    let new = Set(people).subtracting(circles[id]?.members ?? [])
    circles[id]?.members.formUnion(new)
    tell(Array(new), "CIRCLE_ADDED", by: viewer, about: id, isOnce: true)
  }

  mutating func addMembers(_ viewer: Int, _ id: String, _ named: [Int]) -> Outcome {
    guard seesCircle(viewer, id) else { return .refused([Refusal("NOT_FOUND", "circleId")]) }
    if circles[id]?.isChannel == true { return .refused([Refusal("INVALID", "circleId")]) }
    let faults = faults(viewer, named, self: true, ["userIds"])
    guard faults.isEmpty else { return .refused(faults) }
    add(viewer, id, named)
    return .done
  }

  mutating func removeMembers(_ viewer: Int, _ id: String, _ named: [Int]) -> Outcome {
    guard seesCircle(viewer, id), let circle = circles[id] else {
      return .refused([Refusal("NOT_FOUND", "circleId")])
    }
    guard circle.owner == viewer else { return .refused([Refusal("FORBIDDEN", "circleId")]) }
    if circle.isChannel { return .refused([Refusal("INVALID", "circleId")]) }
    if let place = named.firstIndex(of: circle.owner) {
      return .refused([Refusal("FORBIDDEN", "userIds", "\(place)")])
    }
    circles[id]?.members.subtract(named)
    untell(named, "CIRCLE_ADDED", by: nil, about: id)
    return .done
  }

  mutating func join(_ viewer: Int, _ id: String) -> Outcome {
    guard seesCircle(viewer, id) else { return .refused([Refusal("NOT_FOUND", "circleId")]) }
    circles[id]?.members.insert(viewer)
    return .done
  }

  mutating func leave(_ viewer: Int, _ id: String) -> Outcome {
    guard seesCircle(viewer, id) else { return .refused([Refusal("NOT_FOUND", "circleId")]) }
    if circles[id]?.owner == viewer { return .refused([Refusal("FORBIDDEN", "circleId")]) }
    circles[id]?.members.remove(viewer)
    untell([viewer], "CIRCLE_ADDED", by: nil, about: id)
    return .done
  }

  mutating func deleteCircle(_ viewer: Int, _ id: String) -> Outcome {
    guard seesCircle(viewer, id) else { return .refused([Refusal("NOT_FOUND", "circleId")]) }
    guard circles[id]?.owner == viewer else { return .refused([Refusal("FORBIDDEN", "circleId")]) }
    for (post, value) in posts where value.circle == id { forget(post) }
    forget(id)
    circles[id] = nil
    return .done
  }

  // MARK: Cards, classes, messages

  mutating func respond(_ viewer: Int, _ id: String) -> Outcome {
    guard seesPost(viewer, id), let post = posts[id], post.kind == "cardOffer" else {
      return .refused([Refusal("NOT_FOUND", "cardOfferId")])
    }
    if post.author == viewer { return .refused([Refusal("FORBIDDEN", "cardOfferId")]) }
    if responses[id]?.contains(viewer) == true { return .done }
    guard post.isOpen else { return .refused([Refusal("CLOSED", "cardOfferId")]) }
    responses[id, default: []].insert(viewer)
    if let limit = post.limit, responses[id]?.count ?? 0 >= limit { posts[id]?.isOpen = false }
    cards.append(
      Favour(post: id, sender: post.author, recipient: viewer, state: "OPEN"))
    // It is about the answer, which goes with the offer.
    tell([post.author], "OFFER_ANSWERED", by: viewer, about: id)
    return .done
  }

  mutating func close(_ viewer: Int, _ id: String) -> Outcome {
    guard seesPost(viewer, id), let post = posts[id], post.kind.hasPrefix("card") else {
      return .refused([Refusal("NOT_FOUND", "postId")])
    }
    guard post.author == viewer else { return .refused([Refusal("FORBIDDEN", "postId")]) }
    posts[id]?.isOpen = false
    return .done
  }

  mutating func reopen(_ viewer: Int, _ id: String) -> Outcome {
    guard seesPost(viewer, id), let post = posts[id], post.kind.hasPrefix("card") else {
      return .refused([Refusal("NOT_FOUND", "postId")])
    }
    guard post.author == viewer else { return .refused([Refusal("FORBIDDEN", "postId")]) }
    if let limit = post.limit, responses[id]?.count ?? 0 >= limit {
      return .refused([Refusal("FULL", "postId")])
    }
    posts[id]?.isOpen = true
    return .done
  }

  func mayAsk(_ viewer: Int, _ id: String) -> [Refusal] {
    guard seesPost(viewer, id), let post = posts[id], post.kind == "cardRequest" else {
      return [Refusal("NOT_FOUND", "cardRequestId")]
    }
    if post.author == viewer { return [Refusal("FORBIDDEN", "cardRequestId")] }
    let isKnown = requests.values.contains { $0.post == id && $0.sender == viewer }
    return isKnown || post.isOpen ? [] : [Refusal("CLOSED", "cardRequestId")]
  }

  mutating func ask(_ viewer: Int, _ id: String, for post: String) {
    guard requests[id] == nil, let owner = posts[post]?.author else { return }
    requests[id] = Favour(post: post, sender: viewer, recipient: owner, state: "PENDING")
    tell([owner], "INFO_REQUESTED", by: viewer, about: post)
  }

  func seesFavour(_ viewer: Int, _ favour: Favour) -> Bool {
    (favour.sender == viewer || favour.recipient == viewer)
      && !isApart(favour.sender, favour.recipient) && seesPost(viewer, favour.post)
  }

  mutating func answer(_ viewer: Int, _ id: String, _ approves: Bool) -> Outcome {
    guard let request = requests[id], seesFavour(viewer, request) else {
      return .refused([Refusal("NOT_FOUND", "infoRequestId")])
    }
    guard request.recipient == viewer else {
      return .refused([Refusal("FORBIDDEN", "infoRequestId")])
    }
    let state = approves ? "ACCEPTED" : "DECLINED"
    if request.state == state { return .done }
    guard request.state == "PENDING" else {
      return .refused([Refusal("ALREADY_DONE", "infoRequestId")])
    }
    requests[id]?.state = state
    if approves {
      cards.append(
        Favour(post: request.post, sender: request.sender, recipient: viewer, state: "OPEN"))
    }
    tell([request.sender], "INFO_ANSWERED", by: viewer, about: request.post)
    return .done
  }

  /// - Parameter index: of a card that the viewer sends.
  mutating func resolve(_ index: Int, _ isSent: Bool) -> Outcome {
    let card = cards[index]
    let state = isSent ? "COMPLETED" : "UNABLE"
    guard card.state == "OPEN" else {
      return card.state == state ? .done : .refused([Refusal("ALREADY_DONE", "followUpId")])
    }
    cards[index].state = state
    if !isSent { tell([card.recipient], "FOLLOW_UP_UNABLE", by: card.sender, about: card.post) }
    return .done
  }

  func mayBook(_ viewer: Int, _ id: String) -> [Refusal] {
    guard let session = sessions[id], session.bookings[viewer] == nil else { return [] }
    if session.trainer == viewer { return [Refusal("FORBIDDEN", "classSessionId")] }
    return session.bookings.count >= session.seats ? [Refusal("FULL", "classSessionId")] : []
  }

  mutating func message(_ viewer: Int, _ named: [Int]) -> Outcome {
    let everyone = Set(named).union([viewer])
    if everyone.count == 2, let other = everyone.subtracting([viewer]).first,
      fault(viewer, other) == "NOT_FOUND", talks[everyone] != nil
    {
      return .refused([Refusal("CLOSED", "to", "userIds")])
    }
    let faults = faults(viewer, named, self: everyone.count > 1, ["to", "userIds"])
    guard faults.isEmpty else { return .refused(faults) }
    guard everyone.count > 1 else { return .refused([Refusal("INVALID", "to", "userIds")]) }
    talks[everyone, default: []].append(viewer)
    let about = "talk " + everyone.sorted().map(String.init).joined(separator: ",")
    // Whoever writes has read.
    for index in notes.indices
    where notes[index].recipient == viewer && notes[index].reason == "MESSAGED"
      && notes[index].about == about
    {
      notes[index].isRead = true
    }
    for person in everyone where person != viewer && !isApart(person, viewer) {
      number(person, "MESSAGED", by: viewer, about: about)
    }
    return .done
  }

  mutating func markRead(_ viewer: Int) -> Outcome {
    for index in notes.indices where notes[index].recipient == viewer { notes[index].isRead = true }
    return .done
  }
}

extension Refusal {
  init(_ code: String, at path: [String]) {
    self.init(["code": .string(code), "field": .array(path.map { .string($0) })])
  }
}
