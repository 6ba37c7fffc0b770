/// Posts of all kinds, and what hangs on them.
extension Noun {
  private static func mine(_ kind: String) -> (query: String, path: String) {
    (
      "{ viewer { user { posts(kinds: [\(kind)]) { nodes { id } } } } }",
      "viewer.user.posts.nodes"
    )
  }

  private static func post(
    _ type: String, kind: String, _ input: String, changes: [Change], pairs: [Pair] = []
  ) -> Noun {
    let name = type.prefix(1).lowercased() + type.dropFirst()
    return Noun(
      name: type, type: type,
      create: Act("create\(type)(input: {\(input)})", keeping: name + ".id", as: "id"),
      list: mine(kind), changes: changes, pairs: pairs, delete: Act("deletePost(postId: $id)"),
      isLogged: true)
  }

  static let posts = [
    post(
      "TextPost", kind: "TEXT", "body: \"a\"",
      changes: [
        Change("updateTextPost(textPostId: $id, input: {body: \"b\"})", "body", ["body": "b"]),
        Change(
          "updateTextPost(textPostId: $id, input: {photoIds: [$picture, $photo]})",
          "body photos { id }",
          ["body": "b", "photos": [["id": "$picture"], ["id": "$photo"]]]),
        Change(
          "updateTextPost(textPostId: $id, input: {location: {id: $place}})", "location { name }",
          ["location": ["name": "Pier"]]),
        Change(
          "updateTextPost(textPostId: $id, input: {location: null, photoIds: null})",
          "body location { name } photos { id }", ["body": "b", "location": nil, "photos": []]),
      ]),
    post(
      "OutfitPost", kind: "OUTFIT",
      "photoIds: [$photo], body: \"a\", brands: [\"A\"], isVotingEnabled: false",
      changes: [
        Change("updateOutfitPost(outfitPostId: $id, input: {body: null})", "body", ["body": ""]),
        Change(
          "updateOutfitPost(outfitPostId: $id, input: {photoIds: [$picture]})", "photos { id }",
          ["photos": [["id": "$picture"]]]),
        Change(
          "updateOutfitPost(outfitPostId: $id, input: {brands: [\"B\", \" B\", \"C\"]})", "brands",
          ["brands": ["B", "C"]]),
        Change(
          "updateOutfitPost(outfitPostId: $id, input: {location: {id: $place}, brands: null})",
          "brands location { id }", ["brands": [], "location": ["id": "$place"]]),
      ],
      pairs: [
        Pair(
          "updateOutfitPost(outfitPostId: $id, input: {isVotingEnabled: true})",
          "updateOutfitPost(outfitPostId: $id, input: {isVotingEnabled: false})", "isVotingEnabled",
          ["isVotingEnabled": true], ["isVotingEnabled": false])
      ]),
    post(
      "ProductPost", kind: "PRODUCT", "productId: $product",
      changes: [
        Change(
          "updateProductPost(productPostId: $id, input: {body: \"b\"})", "body product { name }",
          ["body": "b", "product": ["name": "Coat"]]),
        Change("updateProductPost(productPostId: $id, input: {body: null})", "body", ["body": ""]),
      ],
      pairs: [
        Pair(
          "updateProductPost(productPostId: $id, input: {isVotingEnabled: true})",
          "updateProductPost(productPostId: $id, input: {isVotingEnabled: false})",
          "isVotingEnabled", ["isVotingEnabled": true], ["isVotingEnabled": false])
      ]),
    post(
      "PhotoPost", kind: "PHOTO", "photoIds: [$photo], location: {id: $place}",
      changes: [
        Change("updatePhotoPost(photoPostId: $id, input: {body: \"b\"})", "body", ["body": "b"]),
        Change(
          "updatePhotoPost(photoPostId: $id, input: {photoIds: [$picture]})", "photos { id }",
          ["photos": [["id": "$picture"]]]),
        Change(
          "updatePhotoPost(photoPostId: $id, input: {location: {id: $home}})", "location { id }",
          ["location": ["id": "$home"]]),
      ]),
    post(
      "CardOffer", kind: "CARD_OFFER", "body: \"a\", responseLimit: 2",
      changes: [
        Change("updateCardOffer(cardOfferId: $id, input: {body: \"b\"})", "body", ["body": "b"]),
        Change(
          "updateCardOffer(cardOfferId: $id, input: {photoIds: [$photo]})", "photos { id }",
          ["photos": [["id": "$photo"]]]),
        Change(
          "updateCardOffer(cardOfferId: $id, input: {responseLimit: null})", "responseLimit",
          ["responseLimit": nil]),
        Change(
          "updateCardOffer(cardOfferId: $id, input: {responseLimit: 3, regionIds: [$city, $home]})",
          "responseLimit regions { name }",
          ["responseLimit": 3, "regions": [["name": "Perth"], ["name": "Rosario"]]]),
        Change(
          "updateCardOffer(cardOfferId: $id, input: {regionIds: []})", "regions { name }",
          ["regions": []]),
      ], pairs: [closing]),
    post(
      "CardRequest", kind: "CARD_REQUEST", "body: \"a\"",
      changes: [
        Change(
          "updateCardRequest(cardRequestId: $id, input: {body: \"b\"})", "body", ["body": "b"]),
        Change(
          "updateCardRequest(cardRequestId: $id, input: {photoIds: [$photo]})", "photos { id }",
          ["photos": [["id": "$photo"]]]),
      ], pairs: [closing]),
    post(
      "ThankYou", kind: "THANK_YOU", "body: \"a\", taggedUserIds: [$other]",
      changes: [
        Change("updateThankYou(thankYouId: $id, input: {body: \"b\"})", "body", ["body": "b"]),
        Change(
          "updateThankYou(thankYouId: $id, input: {photoIds: [$photo]})", "photos { id }",
          ["photos": [["id": "$photo"]]]),
        Change(
          "updateThankYou(thankYouId: $id, input: {taggedUserIds: [$staff]})", "taggedUsers { id }",
          ["taggedUsers": [["id": "$staff"]]]),
      ]),
    post(
      "Announcement", kind: "ANNOUNCEMENT", "body: \"a\"",
      changes: [
        Change(
          "updateAnnouncement(announcementId: $id, input: {body: \"b\"})", "body", ["body": "b"]),
        Change(
          "updateAnnouncement(announcementId: $id, input: {photoIds: [$photo]})", "photos { id }",
          ["photos": [["id": "$photo"]]]),
      ]),
    post(
      "Event", kind: "EVENT", "title: \"a\", startsAt: \"2041-01-01T10:00:00Z\"",
      changes: [
        Change("updateEvent(eventId: $id, input: {title: \"b\"})", "title", ["title": "b"]),
        Change("updateEvent(eventId: $id, input: {body: \"c\"})", "body", ["body": "c"]),
        Change(
          "updateEvent(eventId: $id, input: {photoIds: [$photo]})", "photos { id }",
          ["photos": [["id": "$photo"]]]),
        Change(
          "updateEvent(eventId: $id, input: {location: {id: $place}})", "location { id }",
          ["location": ["id": "$place"]]),
        Change(
          """
          updateEvent(eventId: $id, input: {category: DINING, \
          venues: [{locationId: $place, note: "soup"}]})
          """, "category venues { note }", ["category": "DINING", "venues": [["note": "soup"]]]),
        Change(
          "updateEvent(eventId: $id, input: {category: GENERAL})", "category venues { note }",
          ["category": "GENERAL", "venues": []]),
      ],
      pairs: [
        Pair(
          "updateEvent(eventId: $id, input: {visibility: INVITED})",
          "updateEvent(eventId: $id, input: {visibility: PUBLIC})", "visibility",
          ["visibility": "INVITED"], ["visibility": "PUBLIC"]),
        Pair(
          "cancelEvent(eventId: $id, note: \"Rain\")", "restoreEvent(eventId: $id)",
          "cancellationNote", ["cancellationNote": "Rain"], ["cancellationNote": nil]),
        Pair(
          "setAttendance(eventId: $id, status: MAYBE)", "clearAttendance(eventId: $id)",
          "viewerAttendance", ["viewerAttendance": "MAYBE"], ["viewerAttendance": nil]),
        reacting,
      ]),
  ]

  private static let closing = Pair(
    "closeCardPost(postId: $id)", "reopenCardPost(postId: $id)", "isOpen", ["isOpen": false],
    ["isOpen": true])

  private static let reacting = Pair(
    "react(subjectId: $id, kind: HEART)", "unreact(subjectId: $id, kind: HEART)", "viewerReactions",
    ["viewerReactions": ["HEART"]], ["viewerReactions": []])

  static let said = [
    Noun(
      name: "Comment", type: "Comment",
      before: [
        Act("createTextPost(input: {body: \"a\"})", by: .other, keeping: "textPost.id", as: "post")
      ],
      create: Act(
        "addComment(subjectId: $post, body: \"a\")", keeping: "comment.id", as: "id"),
      list: ("{ post(id: $post) { comments { nodes { id } } } }", "post.comments.nodes"),
      changes: [
        Change(
          "updateComment(commentId: $id, input: {body: \"b\"})", "body viewerCanUpdate",
          ["body": "b", "viewerCanUpdate": true])
      ],
      pairs: [
        Pair(
          "react(subjectId: $id, kind: AGREE)", "unreact(subjectId: $id, kind: AGREE)",
          "reactionCount", ["reactionCount": 1], ["reactionCount": 0])
      ],
      delete: Act("deleteComment(commentId: $id)"), isLogged: true),
    Noun(
      name: "Circle", type: "Circle",
      create: Act(
        "createCircle(input: {name: \"A\", memberIds: [$other]})", keeping: "circle.id", as: "id"),
      list: ("{ viewer { circles { nodes { id } } } }", "viewer.circles.nodes"),
      changes: [
        Change("updateCircle(circleId: $id, input: {name: \"B\"})", "name", ["name": "B"]),
        Change(
          "updateCircle(circleId: $id, input: {description: \"c\"})", "name description",
          ["name": "B", "description": "c"]),
        Change(
          "updateCircle(circleId: $id, input: {description: null})", "description",
          ["description": ""]),
      ],
      pairs: [
        Pair(
          "addCircleMembers(circleId: $id, userIds: [$third])",
          "removeCircleMembers(circleId: $id, userIds: [$third])", "members { totalCount }",
          ["members": ["totalCount": 3]], ["members": ["totalCount": 2]])
      ],
      delete: Act("deleteCircle(circleId: $id)"), isLogged: true),
    Noun(
      name: "Offer response", type: "FollowUp",
      before: [
        Act(
          "createCardOffer(input: {body: \"a\"})", by: .other, keeping: "cardOffer.id", as: "offer")
      ],
      create: Act(
        "respondToOffer(cardOfferId: $offer)", keeping: "cardOffer.viewerFollowUp.id", as: "id"),
      list: ("{ viewer { followUps { nodes { id } } } }", "viewer.followUps.nodes"),
      pairs: [
        Pair(
          "resolveFollowUp(followUpId: $id, state: UNABLE)",
          "resolveFollowUp(followUpId: $id, state: OPEN)", "state", ["state": "UNABLE"],
          ["state": "OPEN"], by: .other)
      ]),
    Noun(
      name: "Info request", type: "InfoRequest",
      before: [
        Act(
          "createCardRequest(input: {body: \"a\"})", by: .other, keeping: "cardRequest.id",
          as: "request")
      ],
      create: Act("requestAddress(cardRequestId: $request)", keeping: "infoRequest.id", as: "id"),
      pairs: [
        Pair(
          "withdrawInfoRequest(infoRequestId: $id)", "requestAddress(cardRequestId: $request)",
          "status", ["status": "WITHDRAWN"], ["status": "PENDING"])
      ]),
    Noun(
      name: "Flag", type: "TextPost",
      create: Act(
        "createTextPost(input: {body: \"a\"})", by: .other, keeping: "textPost.id", as: "id"),
      pairs: [
        Pair(
          "flag(subjectId: $id)", "unflag(subjectId: $id)", "body", ["body": "a"], ["body": "a"])
      ]),
  ]
}
