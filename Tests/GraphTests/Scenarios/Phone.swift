import GraphQLPlanning
import JSON
import Testing

/// A phone with one of the applications on it: it sends plain documents, and keeps the token it was
/// given. A scenario is what people do with their phones, in order, on a graph that was empty.
final class Phone {
  private let server: GraphServer
  /// The person who is signed in; nil before that.
  private(set) var person: Person?

  init(_ server: GraphServer) { self.server = server }

  /// The signed-in user's id.
  var id: JSONValue { person?.json ?? .null }

  /// The data of an operation that must have no errors; a mutation must be refused nothing.
  @discardableResult
  func ask(
    _ document: String, _ variables: JSONValue = [:],
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> JSONValue {
    let data = try server.data(document, variables, as: person)
    for member in data.members ?? [] {
      let refusals = member.value["userErrors"]?.array ?? []
      #expect(refusals == [], "\(member.name)", sourceLocation: sourceLocation)
    }
    return data
  }

  /// Returns the user errors of a mutation's only field.
  func refused(_ document: String, _ variables: JSONValue = [:]) throws -> [Refusal] {
    let data = try server.data(document, variables, as: person)
    return (data.members?.first?.value["userErrors"]?.array ?? []).map { Refusal($0) }
  }

  /// The code of the one error that the whole operation has.
  func failed(_ document: String, _ variables: JSONValue = [:]) throws -> String? {
    let codes = try server.errorCodes(document, variables, as: person)
    return codes.count == 1 ? codes[0] : nil
  }

  /// Keeps the session in the payload of `signUp`, `signIn` or `signInWithProvider`.
  func keepSession(_ payload: JSONValue?) throws {
    let payload = try #require(payload)
    let name = try #require(payload.at("viewer.user.username")?.string)
    person = try GraphServer.person(payload, username: name)
  }

  func signUp(_ username: String, _ more: JSONValue = [:]) throws {
    let input: JSONValue = .object(
      [
        JSONValue.Member(name: "username", value: .string(username)),
        JSONValue.Member(name: "password", value: "correct horse"),
      ] + (more.members ?? []))
    let data = try ask(
      """
      mutation SignUp($input: SignUpInput!) {
        signUp(input: $input) {
          isNewUser
          token viewer { user { id username } }
          userErrors { code message field }
        }
      }
      """, ["input": input])
    try keepSession(data["signUp"])
  }

  func signOut() throws {
    try ask("mutation { signOut { userErrors { code } } }")
  }

  /// Forgets the session, like a phone on which the application is reinstalled.
  func forget() { person = nil }

  /// Returns the notifications, latest first.
  func told() throws -> [JSONValue] {
    try ask(
      """
      query Notifications { viewer { notifications { nodes {
        id reason text destination readAt about { __typename id } actor { id }
        action { kind label url performedAt } } } } }
      """
    ).at("viewer.notifications.nodes")?.array ?? []
  }

  /// Presses the button of the latest notification of a kind.
  func press(_ kind: String) throws {
    let notification = try #require(try told().first { $0.at("action.kind") == .string(kind) })
    let done = try ask(
      """
      mutation Press($id: ID!) { performNotificationAction(notificationId: $id) {
        notification { action { performedAt } } userErrors { code } } }
      """, ["id": try #require(notification["id"])])
    #expect(done.at("performNotificationAction.notification.action.performedAt")?.string != nil)
  }
}

extension Phone {
  /// A picture sent and registered: the id of the photo, to be attached.
  func takePhoto(_ server: GraphServer) throws -> JSONValue {
    .string(try server.uploadPhoto(as: try #require(person)))
  }
}
