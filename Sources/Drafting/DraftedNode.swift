/// The ID of the rows of a table, by which the query type finds them among all rows.
struct DraftedNode {
  /// The name of the interface.
  let interface: String
  let tag: Int

  /// The name of the field, as clients expect it.
  static let id = "id"
  static let reference = DraftedDirective.text("reference", [("id", ":id")])
  /// What an earlier draft says that the field reads.
  static let fieldKey = FieldKey.other(type: "ID", ["@id"])

  static let text = "The ID of the object: opaque, and unique among all objects."

  /// Returns the interface, and the field with the object of an ID.
  static func definitions(_ interface: String, _ field: String) -> [DraftedDefinition] {
    [
      DraftedDefinition(
        keyword: "interface", name: interface, description: "An object with an ID.",
        members: [DraftedMember(name: id, description: text, type: "ID!")]),
      DraftedDefinition(
        keyword: "extend type", name: "Query",
        members: [
          DraftedMember(
            name: field, description: "The object with this ID; null if there is none.",
            arguments: ["\(id): ID!"], type: interface, directives: [reference])
        ]),
    ]
  }
}
