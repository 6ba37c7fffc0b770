import GraphQLPlanning
import JSON
import TestSupport
import Testing

/// Go Try It On, as its users go through it, from an empty graph on.
@Suite(.usesCluster) struct GTIOScenarioTests {
  private static let outfitPage = """
    query OutfitPage($id: ID!) {
      post(id: $id) {
        body author { displayName } location { name } photos { url(shape: ORIGINAL) }
        reactionCount(kind: HEART) viewerReactions viewerActions commentCount
        ... on OutfitPost { brands isVotingEnabled viewerVote
          verdict { text wearItCount changeItCount leading } }
        comments { nodes { id body author { displayName } viewerHasFlagged
          reactionCount(kind: AGREE) viewerReactions } }
      }
    }
    """

  @Test func `from the first launch to the last outfit deleted`() throws {
    let server = try GraphServer.new()
    defer { server.stop() }
    let (sue, ada, ben, cat, eve) = (
      Phone(server), Phone(server), Phone(server), Phone(server), Phone(server)
    )

    // A visitor of an empty graph.
    let launch = """
      query Launch { viewer { user { id } }
        appConfig(app: "gtio") { introImages isVotingEnabledByDefault supportEmail }
        posts(orderBy: TOP) { totalCount } }
      """
    #expect(
      try ada.ask(launch) == ["viewer": nil, "appConfig": nil, "posts": ["totalCount": 0]])

    // Staff make the application ready. The first of them is made by the database's owner, as `sociograph user role` does.
    try sue.signUp("sue")
    try server.data().run("SELECT change_roles('sue', '{STAFF}', '{}')")
    try sue.ask(
      """
      mutation Configure($input: SetAppConfigInput!) {
        setAppConfig(app: "gtio", input: $input) { appConfig { app } userErrors { code field } } }
      """,
      [
        "input": [
          "supportEmail": "help@gtio.example", "isVotingEnabledByDefault": true,
          "introImages": ["https://gtio.example/1.jpg", "https://gtio.example/2.jpg"],
        ]
      ])
    var products: [JSONValue] = []
    for (name, price) in [("Red coat", "89.00"), ("Scarf", "19.90")] {
      let made = try sue.ask(
        """
        mutation Product($input: UpsertProductInput!) {
          upsertProduct(input: $input) { product { id } userErrors { code field } } }
        """,
        [
          "input": [
            "retailer": "shop", "externalId": .string(name), "name": .string(name),
            "brand": "Acme", "price": ["amount": .string(price), "currency": "EUR"],
            "buyUrl": .string("https://shop.example/\(products.count)"),
          ]
        ])
      products.append(try #require(made.at("upsertProduct.product.id")))
    }
    let (coat, scarf) = (products[0], products[1])

    // First launch: intro images, then signing up with Facebook, then the profile.
    #expect(
      try ada.ask(launch).at("appConfig.introImages")
        == ["https://gtio.example/1.jpg", "https://gtio.example/2.jpg"])
    let signIn = """
      mutation Facebook($credential: String!, $new: Boolean!) {
        signInWithProvider(provider: FACEBOOK, credential: $credential, allowSignUp: $new) {
          isNewUser token viewer { missingProfileFields user { id username } }
          userErrors { code message field } } }
      """
    let credential = TestAccounts.credential(
      "ada at facebook", #","preferred_username":"ada","name":"ada""#)
    #expect(
      try ada.refused(signIn, ["credential": credential, "new": false])
        == [Refusal("NOT_FOUND", "credential")])
    let signedUp = try ada.ask(signIn, ["credential": credential, "new": true])
    #expect(signedUp.at("signInWithProvider.isNewUser") == true)
    #expect(
      signedUp.at("signInWithProvider.viewer.missingProfileFields")?.array?.first
        == "DISPLAY_NAME")
    try ada.keepSession(signedUp["signInWithProvider"])
    let face = try ada.takePhoto(server)
    #expect(
      try ada.ask(
        """
        mutation Profile($input: UpdateProfileInput!) { updateProfile(input: $input) {
          viewer { missingProfileFields user { displayName website avatar { id } } }
          userErrors { code field } } }
        """,
        [
          "input": [
            "displayName": "Ada", "website": "https://ada.example", "avatarPhotoId": face,
            "bio": "Hats.",
          ]
        ]
      ).at("updateProfile.viewer")
        == [
          "missingProfileFields": ["HOME", "ADDRESS", "EMAIL"],
          "user": [
            "displayName": "Ada", "website": "https://ada.example", "avatar": ["id": face],
          ],
        ])

    // Quick add: staff show two people, Ada follows them at once, and one follows back.
    try ben.signUp("ben", ["displayName": "Ben"])
    try cat.signUp("cat", ["displayName": "Cat"])
    try sue.ask(
      """
      mutation QuickAdd($ids: [ID!]) {
        setAppConfig(app: "gtio", input: {quickAddUserIds: $ids}) {
          appConfig { introImages } userErrors { code field } } }
      """, ["ids": [cat.id, ben.id]])
    let quickAdd = "query { viewer { quickAddUsers(app: \"gtio\") { displayName } } }"
    #expect(
      try ada.ask(quickAdd).strings("viewer.quickAddUsers", "displayName") == ["Cat", "Ben"])
    let follow = """
      mutation Follow($ids: [ID!]!) {
        followUsers(userIds: $ids) { users { id viewerIsFollowing } userErrors { code field } } }
      """
    #expect(
      try ada.ask(follow, ["ids": [ben.id, cat.id]]).list("followUsers.users", "viewerIsFollowing")
        == [true, true])
    #expect(try ada.ask(quickAdd).strings("viewer.quickAddUsers", "displayName") == [])
    try ben.press("FOLLOW_BACK")
    #expect(try ada.told().map { $0["text"] } == ["<b>Ben</b> follows you."])

    // An outfit with a photo, at a place nobody has named before; votes as the application says.
    let photo = try ada.takePhoto(server)
    let posted = try ada.ask(
      """
      mutation Outfit($input: CreateOutfitPostInput!) { createOutfitPost(input: $input) {
        outfitPost { id isVotingEnabled brands location { id name } photos { id } }
        userErrors { code message field } } }
      """,
      [
        "input": [
          "photoIds": [photo], "body": "For the opera?", "brands": ["Acme", "Zara"], "app": "gtio",
          "location": [
            "new": [
              "name": "Opera", "coordinates": ["latitude": 48.87, "longitude": 2.33],
            ]
          ],
        ]
      ])
    let outfit = try #require(posted.at("createOutfitPost.outfitPost.id"))
    #expect(posted.at("createOutfitPost.outfitPost.isVotingEnabled") == true)
    #expect(posted.at("createOutfitPost.outfitPost.photos") == [["id": photo]])
    #expect(
      try ben.ask("query Feed { viewer { feed { nodes { id body } } } }")
        .at("viewer.feed.nodes") == [["id": outfit, "body": "For the opera?"]])

    // Votes and their verdict.
    let page = try ben.ask(Self.outfitPage, ["id": outfit])
    #expect(page.at("post.author.displayName") == "Ada")
    #expect(page.at("post.location.name") == "Opera")
    #expect(page.at("post.brands") == ["Acme", "Zara"])
    #expect(page.at("post.verdict") == .null)
    #expect(page.at("post.viewerActions")?.array?.contains("VOTE") == true)
    let vote = """
      mutation Vote($id: ID!, $choice: VoteChoice!) { castVote(postId: $id, choice: $choice) {
        post { viewerVote verdict { wearItCount changeItCount leading text } }
        userErrors { code field } } }
      """
    #expect(
      try ada.refused(vote, ["id": outfit, "choice": "WEAR_IT"]) == [Refusal("FORBIDDEN", "postId")]
    )
    let voted = try ben.ask(vote, ["id": outfit, "choice": "WEAR_IT"])
    #expect(voted.at("castVote.post.verdict.wearItCount") == 1)
    #expect(
      try ben.refused(vote, ["id": outfit, "choice": "CHANGE_IT"])
        == [Refusal("ALREADY_DONE", "choice")])
    let second = try cat.ask(vote, ["id": outfit, "choice": "CHANGE_IT"])
    #expect(second.at("castVote.post.verdict.leading") == .null)
    #expect(try ada.ask(Self.outfitPage, ["id": outfit]).at("post.verdict.changeItCount") == 1)
    #expect(try eve.ask(Self.outfitPage, ["id": outfit]).at("post.verdict") == .null)

    // Hearts and reviews; one of them is nobody's friend.
    let react = """
      mutation React($id: ID!, $kind: ReactionKind!) { react(subjectId: $id, kind: $kind) {
        subject { reactionCount viewerReactions } userErrors { code field } } }
      """
    try cat.ask(react, ["id": outfit, "kind": "HEART"])
    let review = """
      mutation Review($id: ID!, $body: String!) { addComment(subjectId: $id, body: $body) {
        comment { id } userErrors { code field } } }
      """
    let kind = try #require(
      try ben.ask(review, ["id": outfit, "body": "Red suits you."]).at("addComment.comment.id"))
    #expect(
      try eve.failed(review, ["id": outfit, "body": "BUY NOW"]) == "UNAUTHENTICATED")
    try eve.signUp("eve")
    let spam = try #require(
      try eve.ask(review, ["id": outfit, "body": "BUY NOW"]).at("addComment.comment.id"))
    try cat.ask(react, ["id": kind, "kind": "AGREE"])
    let flag = """
      mutation Flag($id: ID!) { flag(subjectId: $id, reason: SPAM) { userErrors { code field } } }
      """
    try cat.ask(flag, ["id": spam])
    #expect(try eve.refused(flag, ["id": spam]) == [Refusal("FORBIDDEN", "subjectId")])
    let reviews = try cat.ask(Self.outfitPage, ["id": outfit])
    #expect(reviews.at("post.commentCount") == 2)
    #expect(reviews.list("post.comments.nodes", "viewerHasFlagged") == [false, true])
    #expect(reviews.list("post.comments.nodes", "reactionCount") == [1, 0])
    #expect(reviews.at("post.reactionCount") == 1)
    // The author takes it away, and does not see more of the like.
    try ada.ask(
      """
      mutation Away($comment: ID!, $person: ID!) {
        deleteComment(commentId: $comment) { deletedId userErrors { code field } }
        blockUser(userId: $person) { userErrors { code field } } }
      """, ["comment": spam, "person": eve.id])
    #expect(try cat.ask(Self.outfitPage, ["id": outfit]).at("post.commentCount") == 1)
    #expect(try eve.ask(Self.outfitPage, ["id": outfit]) == ["post": nil])

    // A product suggested for the outfit: told with a button, put on the list, mailed to oneself.
    let suggest = """
      mutation Suggest($product: ID!, $to: ID!, $post: ID) {
        suggestProduct(productId: $product, toUserId: $to, postId: $post) {
          product { name } userErrors { code field } } }
      """
    try cat.ask(suggest, ["product": scarf, "to": ada.id, "post": outfit])
    let suggestion = try #require(try ada.told().first)
    #expect(suggestion["text"] == "<b>Cat</b> suggests Scarf by Acme.")
    #expect(suggestion["about"] == ["__typename": "Product", "id": scarf])
    #expect(suggestion.at("action.url") == "https://shop.example/1")
    try ada.ask(
      """
      mutation List($id: ID!) {
        addToShoppingList(productId: $id) { product { viewerHasOnShoppingList } userErrors { code } }
        react(subjectId: $id, kind: HEART) { userErrors { code } } }
      """, ["id": scarf])
    #expect(
      try ada.ask("query { viewer { shoppingList { nodes { name reactionCount } } } }")
        .at("viewer.shoppingList.nodes") == [["name": "Scarf", "reactionCount": 1]])
    let mail = """
      mutation Mail($id: ID!) {
        emailProductToMe(productId: $id) { product { name } userErrors { code field } } }
      """
    #expect(try ada.refused(mail, ["id": scarf]) == [Refusal("EMAIL_REQUIRED", "productId")])
    try ada.ask(
      """
      mutation { updateProfile(input: {email: "ada@mail.example"}) {
        viewer { email } userErrors { code field } } }
      """)
    #expect(try ada.refused(mail, ["id": scarf]) == [Refusal("EMAIL_REQUIRED", "productId")])
    // By the token in the mail.
    let letter = try server.data().run("SELECT body FROM outbox ORDER BY id DESC LIMIT 1")[0][0]
    let token = try #require(letter?.firstMatch(of: /[0-9a-f]{64}/)?.output)
    try ada.ask(
      """
      mutation Verify($token: String!) {
        verifyEmail(token: $token) { viewer { isEmailVerified } userErrors { code field } } }
      """, ["token": .string(String(token))])
    try ada.ask(mail, ["id": scarf])
    #expect(
      try server.data().run("SELECT recipient, subject FROM outbox ORDER BY id DESC LIMIT 1")
        == [["ada@mail.example", "Scarf by Acme"]])
    try ada.ask(
      """
      mutation Off($id: ID!) { removeFromShoppingList(productId: $id) {
        product { viewerHasOnShoppingList } userErrors { code } } }
      """, ["id": scarf])
    #expect(
      try ada.ask("query { viewer { shoppingList { totalCount } } }")
        .at("viewer.shoppingList.totalCount") == 0)

    // A product of one's own choice is posted, and shared with the server's words.
    let find = try #require(
      try ada.ask(
        """
        mutation Find($id: ID!) { createProductPost(input: {productId: $id, body: "Look!"}) {
          productPost { id isVotingEnabled } userErrors { code field } } }
        """, ["id": coat]
      ).at("createProductPost.productPost.id"))
    let drafts = try ada.ask(
      """
      query Drafts($id: ID!) {
        tweet: shareDraft(channel: TWITTER, subjectId: $id) { body }
        sms: shareDraft(channel: SMS, subjectId: $id, to: "+44 1632 960960") { to body }
        mail: shareDraft(channel: EMAIL, subjectId: $id) { to subject body }
        wall: shareDraft(channel: FACEBOOK, subjectId: $id) { body url } }
      """, ["id": find])
    for name in ["tweet", "sms", "mail", "wall"] {
      #expect(drafts.at("\(name).body")?.string?.contains("Red coat") == true, "\(drafts)")
    }
    #expect((drafts.at("tweet.body")?.string ?? "").count <= 280)
    #expect(drafts.at("sms.to") == ["+44 1632 960960"])
    #expect(drafts.at("mail.subject")?.string?.isEmpty == false)
    let share = """
      mutation Share($id: ID!) { sharePost(postId: $id) { post { id } userErrors { code field } } }
      """
    #expect(try ada.refused(share, ["id": find]) == [Refusal("PROVIDER_NOT_LINKED", "channel")])
    try ada.ask(
      """
      mutation Link($credential: String!) {
        linkProvider(provider: FACEBOOK, credential: $credential, accessToken: "wall") {
          viewer { linkedProviders } userErrors { code field } } }
      """, ["credential": credential])
    try ada.ask(share, ["id": find])

    // Contacts are invited; who comes by the link is known to have accepted.
    try ada.ask(
      """
      mutation Contacts { importContacts(provider: FACEBOOK, contacts: [
        {externalId: "2", name: "Finn"}, {externalId: "1", name: "Dan"}]) {
        viewer { externalContacts { totalCount } } userErrors { code field } } }
      """)
    let contacts = try ada.ask("query { viewer { externalContacts { nodes { id name } } } }")
    #expect(contacts.strings("viewer.externalContacts.nodes", "name") == ["Dan", "Finn"])
    let invited = try ada.ask(
      """
      mutation Invite($id: ID!) { inviteToApp(channel: FACEBOOK, externalContactId: $id) {
        invitation { id contact } draft { body url } userErrors { code field } } }
      """, ["id": try #require(contacts.at("viewer.externalContacts.nodes.0.id"))])
    let link = try #require(invited.at("inviteToApp.draft.url")?.string)
    let dan = Phone(server)
    try dan.signUp(
      "dan",
      [
        "displayName": "Dan Ó.",
        "invitationCode": .string(String(link.split(separator: "/").last ?? "")),
      ])
    #expect(
      try ada.ask(
        """
        query Invitation($id: ID!) { node(id: $id) {
          ... on Invitation { status invitee { displayName } } } }
        """, ["id": try #require(invited.at("inviteToApp.invitation.id"))])
        == ["node": ["status": "ACCEPTED", "invitee": ["displayName": "Dan Ó."]]])

    // People are found: those whom friends follow, by name, in lists with their state.
    try ben.ask(follow, ["ids": [dan.id]])
    #expect(
      try ada.ask("query { viewer { suggestedUsers(limit: 1) { displayName } } }")
        .strings("viewer.suggestedUsers", "displayName") == ["Dan Ó."])
    #expect(
      try ada.ask("query { users(search: \"dan o\") { nodes { displayName viewerIsFollowing } } }")
        .at("users.nodes") == [["displayName": "Dan Ó.", "viewerIsFollowing": false]])
    #expect(
      try ada.ask("query { users(search: \"eve\") { totalCount } }").at("users.totalCount") == 0)
    let friends = """
      query Friends($search: String) { viewer { user { following(search: $search) {
        title summary totalCount nodes { displayName viewerIsFollowing } } } } }
      """
    #expect(
      try ada.ask(friends).at("viewer.user.following.summary") == "You are following 2 people")
    #expect(
      try ada.ask(friends, ["search": "d"]).at("viewer.user.following.totalCount") == 0)
    try ada.ask(follow, ["ids": [dan.id]])
    try ada.ask(
      """
      mutation Unfollow($ids: [ID!]!) { unfollowUsers(userIds: $ids) {
        users { viewerIsFollowing } userErrors { code field } } }
      """, ["ids": [cat.id]])
    #expect(
      try ada.ask(friends).strings("viewer.user.following.nodes", "displayName")
        == ["Ben", "Dan Ó."])
    #expect(
      try dan.ask(
        """
        query { viewer { user { followers { title summary nodes { displayName } } } } }
        """
      ).at("viewer.user.followers")
        == [
          "title": "Followers", "summary": "2 people following you",
          "nodes": [["displayName": "Ada"], ["displayName": "Ben"]],
        ])

    // What there is to know, once seen, counts no more. What came from Eve is not there.
    #expect(
      try ada.told().map { $0["reason"] }
        == ["PRODUCT_SUGGESTED", "COMMENTED", "REACTED", "VOTED", "FOLLOWED"])
    let count = "query { viewer { unreadNotificationCount notifications { totalCount } } }"
    #expect(
      try ada.ask(count)
        == ["viewer": ["unreadNotificationCount": 5, "notifications": ["totalCount": 5]]])
    try ada.ask(
      "mutation { markNotificationsRead { viewer { user { id } } userErrors { code } } }")
    #expect(
      try ada.ask(count)
        == ["viewer": ["unreadNotificationCount": 0, "notifications": ["totalCount": 5]]])

    // An outfit deleted is gone for everyone; signed out, one browses what is left.
    try ada.ask(
      "mutation Delete($id: ID!) { deletePost(postId: $id) { deletedId userErrors { code } } }",
      ["id": outfit])
    for phone in [ada, ben, cat] {
      #expect(
        try phone.ask(Self.outfitPage, ["id": outfit]) == ["post": nil])
    }
    #expect(
      try ben.ask("query { viewer { feed { nodes { id } } } }").list("viewer.feed.nodes", "id")
        == [find])
    try ada.signOut()
    #expect(try ada.failed("query { viewer { email } }") == "UNAUTHENTICATED")
    ada.forget()
    #expect(
      try ada.ask("query { viewer { email } posts(orderBy: TOP) { nodes { id body } } }")
        == ["viewer": nil, "posts": ["nodes": [["id": find, "body": "Look!"]]]])
    let another = TestAccounts.credential("ada at facebook")
    let back = try ada.ask(signIn, ["credential": another, "new": false])
    #expect(back.at("signInWithProvider.isNewUser") == false)
    #expect(back.at("signInWithProvider.viewer.user.username") == "ada")
  }
}
