-- The texts in English. A key that is not found here is a fault; every other language has the same keys.

CALL phrases('en', $phrases$
# numbers and times
number.group: ,
date.weekdays: Mon Tue Wed Thu Fri Sat Sun
date.months: Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec
date.form: {weekday} {day} {month}, {time}

# notifications
FOLLOWED: {actor} follows you.
REACTED: {actor} reacted to something of yours.
REACTED.HEART.outfit_post: {actor} loves your outfit.
REACTED.HEART.product_post: {actor} loves your find.
REACTED.HEART.photo_post: {actor} loves your photo.
REACTED.HEART.card_offer: {actor} loves your offer.
REACTED.HEART.card_request: {actor} loves your request.
REACTED.HEART.thank_you: {actor} loves your thank-you.
REACTED.HEART.announcement: {actor} loves your announcement.
REACTED.HEART.event: {actor} loves your event “{title}”.
REACTED.HEART.text_post: {actor} loves your post.
REACTED.LIKE.outfit_post: {actor} likes your outfit.
REACTED.LIKE.product_post: {actor} likes your find.
REACTED.LIKE.photo_post: {actor} likes your photo.
REACTED.LIKE.card_offer: {actor} likes your offer.
REACTED.LIKE.card_request: {actor} likes your request.
REACTED.LIKE.thank_you: {actor} likes your thank-you.
REACTED.LIKE.announcement: {actor} likes your announcement.
REACTED.LIKE.event: {actor} likes your event “{title}”.
REACTED.LIKE.text_post: {actor} likes your post.
REACTED.TOP.outfit_post: {actor} topped your outfit.
REACTED.TOP.product_post: {actor} topped your find.
REACTED.TOP.photo_post: {actor} topped your photo.
REACTED.TOP.card_offer: {actor} topped your offer.
REACTED.TOP.card_request: {actor} topped your request.
REACTED.TOP.thank_you: {actor} topped your thank-you.
REACTED.TOP.announcement: {actor} topped your announcement.
REACTED.TOP.event: {actor} topped your event “{title}”.
REACTED.TOP.text_post: {actor} topped your post.
REACTED.AGREE.comment: {actor} agrees with your comment.
VOTED.outfit_post[one]: {count} vote on your outfit.
VOTED.outfit_post: {count} votes on your outfit.
VOTED.product_post[one]: {count} vote on your find.
VOTED.product_post: {count} votes on your find.
COMMENTED: {actor} commented: {text}
PRODUCT_SUGGESTED: {actor} suggests {product} by {brand}.
TAGGED: {actor} thanks you.
ANNOUNCED: {actor} announces: {text}
EVENT_INVITED: {actor} invites you to “{title}”.
EVENT_CHANGED: {actor} changed the event “{title}”.
EVENT_CHANGED.restored: {actor} says that the event “{title}” takes place after all.
EVENT_CANCELLED: {actor} called off the event “{title}”.
EVENT_CANCELLED.note: {actor} called off the event “{title}”. {note}
EVENT_CANCELLED.left: The event “{title}” does not take place: its host has left.
CIRCLE_TRANSFERRED: {actor} made you the owner of “{circle}”.
CIRCLE_TRANSFERRED.left: “{circle}” is yours now: its owner has left.
CIRCLE_ADDED: {actor} added you to “{circle}”.
INFO_REQUESTED: {actor} would like to send you a card and asks for your address.
INFO_ANSWERED.ACCEPTED: {actor} gave you their address.
INFO_ANSWERED.DECLINED: {actor} did not give you their address.
OFFER_ANSWERED: {actor} would like a card of yours.
FOLLOW_UP_UNABLE: {actor} cannot send you a card.
BOOKING_CHANGED.MOVED: {actor} moved a class you booked.
BOOKING_CHANGED.CANCELLED: {actor} called off a class you booked.
BOOKING_CHANGED.left: A class of “{program}” that you booked does not take place: its trainer has left.
MESSAGED: {actor} wrote to you.

# buttons of notifications
action.OPEN_URL: Open the store
action.FOLLOW_BACK: Follow back
action.ATTEND: Attend
action.APPROVE_INFO_REQUEST: Give address

# verdicts, and the lines above lists
verdict.NONE: Nobody has voted yet.
verdict.TIE: It is a tie: {wear} say wear it, {change} say change it.
verdict.WEAR_IT[one]: Wear it! {wear} of {count} vote says so.
verdict.WEAR_IT: Wear it! {wear} of {count} votes say so.
verdict.CHANGE_IT[one]: Change it! {change} of {count} vote says so.
verdict.CHANGE_IT: Change it! {change} of {count} votes say so.
followers.title: Followers
followers.summary.own[one]: {count} person following you
followers.summary.own: {count} people following you
followers.summary.other[one]: {count} person following {name}
followers.summary.other: {count} people following {name}
following.title: Following
following.summary.own[one]: You are following {count} person
following.summary.own: You are following {count} people
following.summary.other[one]: {name} is following {count} person
following.summary.other: {name} is following {count} people

# drafts of what people send themselves
share.outfit_post: an outfit by {name}
share.product_post: a find of {name}
share.photo_post: a photo by {name}
share.card_offer: an offer of cards by {name}
share.card_request: a wish for cards of {name}
share.thank_you: thanks from {name}
share.announcement: an announcement by {name}
share.event: an event of {name}
share.text_post: a post by {name}
share.product: {product} by {brand}
share.hello: Hello,
share.question.title: {name}: Question
share.question: Hello,\n\nI have a question for {name}:\n\n
share.invitation: {name} invites you to join the community.
share.invitation.title: {name} invites you
share.invitation.app: {name} invites you to join {app}.
share.invitation.app.title: {name} invites you to {app}
share.community: Come and join the community.
share.community.title: Join the community

# mails
mail.VERIFY_EMAIL.subject: Is this your e-mail address?
mail.VERIFY_EMAIL.body: To show that this address is yours, open {link}\n
mail.RESET_PASSWORD.subject: A new password
mail.RESET_PASSWORD.account: To set a new password for {name}, open {link}\n
mail.RESET_PASSWORD.body: {accounts}\nIf you did not ask for this, there is nothing to do.\n
mail.CHANGE_PASSWORD.subject: Your password was changed
mail.CHANGE_PASSWORD.body: If this was not you, request a password reset.\n
mail.CHANGE_EMAIL.subject: Your e-mail address was changed
mail.CHANGE_EMAIL.body: Mail of your account no longer goes to this address.\n\nIf this was not you,
  sign in and change your password.\n
mail.LINK_PROVIDER.subject: Your account was linked to {provider}
mail.LINK_PROVIDER.body: You can now sign in with {provider}.\n\nIf this was not you, sign in, unlink it and
  change your password.\n
mail.UNLINK_PROVIDER.subject: Your account is no longer linked to {provider}
mail.UNLINK_PROVIDER.body: You can no longer sign in with {provider}.\n\nIf this was not you, sign in and
  change your password.\n
mail.PRODUCT.subject: {product} by {brand}
mail.PRODUCT.body: {product} by {brand}\n\n{details}

# refusals, by their code
error.REQUIRED: This is required.
error.INVALID: This is not valid.
error.TOO_SHORT: This is too short.
error.TOO_LONG: This is too long.
error.TOO_MANY: There are too many.
error.COMMON_PASSWORD: This password is among the most common ones. Choose another.
error.WRONG_CREDENTIALS: The username or the password is wrong.
error.ADDRESS_REQUIRED: Add your postal address first.
error.HOME_REQUIRED: Say first in which country or city you live.
error.EMAIL_REQUIRED: Add an email address and confirm it first.
error.PROVIDER_NOT_LINKED: Connect your account at this provider first.
error.NOT_CONFIGURED: This is not offered here.
error.NOT_FOUND: This does not exist, or you may not see it.
error.FORBIDDEN: You may not do this.
error.BLOCKED: You have blocked this person.
error.SUSPENDED: Your account is suspended.
error.TAKEN: This is already taken.
error.IN_USE: This is still used.
error.ALREADY_DONE: This was already done and cannot be changed.
error.CLOSED: This is closed.
error.FULL: No seat is left.
error.OVERLAP: This time is already taken.
error.PAST: It is over.
error.OUT_OF_REGION: This does not reach where you live.
error.REJECTED_PHOTO: This picture was refused by moderation.

# refusals, by the rule that was broken
error.LONGEST[one]: At most {max} character is allowed.
error.LONGEST: At most {max} characters are allowed.
error.MOST[one]: Choose at most {max}.
error.MOST: Choose at most {max}.
error.CHOOSE: Choose at least one.
error.SELF: You cannot do this to yourself.
error.TWICE: Nothing may be listed twice.
error.REACTION_KIND: This cannot be reacted to in this way.
error.NO_ACTION: This notification has no button.
error.EMAIL_FORM: This is not an email address.
error.ONE_LINE: Write this in one line, without control characters.
error.URL_FORM: A web address begins with https:// or http://.
error.USERNAME_FORM: A username has 2 to 40 letters (A to Z), digits, dots and underscores.
error.TIME_ZONE: This time zone is not known. One that is: Europe/Madrid.
error.LOCALE: This language is not known. One that is: en.
error.LINK_TEMPLATE: A link template has {path} once and a scheme such as https.
error.IMAGE_URL: This is not a picture of this server or an https address.
error.PASSWORD_SHORT: The password must have at least {min} characters.
error.PASSWORD_LONG: The password may have at most {max} characters.
error.PASSWORD: Enter a password.
error.PASSWORD_WRONG: The password is wrong.
error.PASSWORD_ASKED: Enter your password to do this.
error.LINK_USED: This link was used already or is too old. Ask for a new one.
error.CREDENTIAL: The provider did not confirm who you are. Try again.
error.EMAIL_TAKEN: Somebody else has confirmed this email address.
error.OWN_POST: You cannot do this to your own post.
error.VOTED: You have already voted.
error.VOTING_OFF: Voting is off here.
error.MANY_TOLD: These groups may have at most {max} members in total.
error.ENDS_BEFORE_START: The end must be after the start.
error.MANY_POINTS: A track can have at most {max} points.
error.NOT_NEGATIVE: Enter a number that is not negative.
error.POINT: Choose a point on the map.
error.PLACE_TYPE: Only single places have a type.
error.PARENT_LEVEL: It must lie in a larger part of the world.
error.WHOLE_NUMBER: Enter a whole number.
error.APP_FORM: The name of an application has letters (A to Z), digits, and hyphens.
error.INTRO_IMAGES: Enter at most {max} web addresses.
error.MANY_BRANDS: Enter at most {max} brands.
error.LONG_BRAND: A brand can have at most {max} characters.
error.VISIBILITY: Only events can be by invitation.
error.CIRCLE: Choose a circle.
error.SUGGEST_FOLLOWED: You can suggest products only to people whom you follow.
error.CURRENCY_FORM: A currency has three capital letters, such as EUR.
error.CONTACT_TWICE: Choose a contact or enter one, not both.
error.OWN_OFFER: You cannot do this to your own offer.
error.OFFER_CLOSED: This offer is closed.
error.OWN_REQUEST: You cannot do this to your own request.
error.REQUEST_CLOSED: This request is closed.
error.REQUEST_ANSWERED: You have already answered this request.
error.CARD_RESOLVED: You have already settled this card.
error.LOW_LIMIT: The limit must be at least {min}.
error.FLAG_RESOLVED: This report was settled already.
error.MANY_CONTACTS: At most {max} contacts can be imported at once.
error.MANY_VENUES: A meal can have at most {max} venues.
error.NO_APP: Say which application this is.
error.SAME_LOCATION: These are one location already.
error.OTHER_LEVEL: Only locations of the same level can be merged.
error.CHANNEL: Choose a channel.
error.SENDS_ONLY: {name} sends only to {places}.
error.CARD_SENT: This card was settled already.
error.WAS_ANSWERED: It was answered already.
error.TAKEN_BACK: It was taken back.
error.ONE_DAY: This can be taken back for 24 hours.
error.ALL_ANSWERS[one]: The offer has its only answer.
error.ALL_ANSWERS: The offer has all its {max} answers.
error.BELOW_TAKEN[one]: {min} person has answered already.
error.BELOW_TAKEN: {min} people have answered already.
error.NOT_A_MEMBER: This person does not belong to the circle.
error.NOT_A_MEAL: Only a meal has venues.
error.NOT_PUBLIC: An event of a group stays among its members.
error.NOT_CIRCLE: An event outside of circles is public or by invitation.
error.NOT_INVITED: An event of a circle cannot become one by invitation.
error.CALLED_OFF: It was called off.
error.EVENT_OVER: This event is over.
error.USERNAME: Enter a username.
error.NO_ACCOUNT: No account is connected to this sign-in. Sign up first.
error.LINKED_ELSEWHERE: Somebody else has connected this account.
error.LINKED_OTHER: You have already connected another account of this provider.
error.LAST_SIGN_IN: This is your only way to sign in. Set a password first.
error.LAST_STAFF: The last member of staff cannot do this.
error.CLASS_STARTED: This class has started already.
error.OWN_CLASS: You cannot do this to your own class.
error.TRAINER_BUSY: The trainer is busy at that time.
error.NOT_A_TRAINER: This trainer does not teach this.
error.TIMES: Choose at least one time.
error.SEATS: Enter a number of seats from {min} to {max}.
error.SEATS_BOOKED: There must be a seat for each booking, and at most {max}.
error.IN_PAST: The time must be in the future.
error.CLASS_TWICE: This class takes place at that time already.
error.MINUTES: Enter a duration from {min} to {max} minutes.
error.TRAINER_NEEDED: Somebody who still has classes to give cannot be removed.
error.SUSPENDED_UNTIL: Your account is suspended until {date}.
error.LOCATION_USED[one]: {count} thing still refers to this place.
error.LOCATION_USED: {count} things still refer to this place.
error.CLASSES_BOOKED[one]: {count} seat is still booked in classes to come.
error.CLASSES_BOOKED: {count} seats are still booked in classes to come.
error.PHOTO_NEEDED: A post needs this picture, as it has no other.
error.STAFF: Only staff can do this.
error.NOT_A_GROUP: People subscribe to a channel by themselves.
error.DEFAULT_CHANNEL: New accounts can only be subscribed to channels.
error.OWNER_STAYS: The owner of a circle cannot leave it.
error.NOBODY_READS: Nobody reads this conversation any more.
error.PHONE_FORM: A phone number has 7 to 15 digits, with + and the country code in front.
error.NO_WALL: Choose Facebook or Twitter.
error.PROVIDER: Connect your {provider} account first.
error.COORDINATES: Latitude is -90 to 90, longitude -180 to 180.
error.INVALID.photoIds: No photo may be attached twice.
error.INVALID.locationId: No place may be listed twice.
error.INVALID.closesAt: The end must be after the start.
error.INVALID.avatarUrl: A web address begins with https:// or http://.
error.INVALID.videoUrls: A web address begins with https:// or http://.
error.INVALID.path: The points of a track follow each other in time and lie on Earth.
error.INVALID.trainerIds: Only trainers teach.
error.INVALID.kind: This cannot be reacted to in this way.
error.USERNAME_TAKEN: This username is taken.

# push messages: nothing that a stranger at the screen may not read
push: There is something new.
push.FOLLOWED: {actor} follows you.
push.REACTED: {actor} reacted to something of yours.
push.VOTED[one]: {count} new vote.
push.VOTED: {count} votes.
push.COMMENTED: {actor} commented.
push.PRODUCT_SUGGESTED: {actor} suggests a product.
push.TAGGED: {actor} thanks you.
push.ANNOUNCED: {actor} announces something.
push.EVENT_INVITED: {actor} invites you to an event.
push.EVENT_CHANGED: {actor} changed an event.
push.EVENT_CANCELLED: {actor} called off an event.
push.EVENT_CANCELLED.left: An event does not take place.
push.CIRCLE_ADDED: {actor} added you to a circle.
push.CIRCLE_TRANSFERRED: {actor} made you the owner of a circle.
push.CIRCLE_TRANSFERRED.left: You are the owner of a circle now.
push.INFO_REQUESTED: {actor} asks for your address.
push.INFO_ANSWERED: {actor} answered you.
push.OFFER_ANSWERED: {actor} would like a card of yours.
push.FOLLOW_UP_UNABLE: {actor} cannot send you a card.
push.BOOKING_CHANGED: {actor} changed a class you booked.
push.BOOKING_CHANGED.left: A class you booked does not take place.
push.MESSAGED: {actor} wrote to you.

mail.NOTIFICATION.subject: {text}
mail.NOTIFICATION.body: {text}\n\n{link}\n\nTo get no more mails of this sort, open {stop}\n

# devices and settings
error.PUSH_TOKEN: This is not a token of the push service.
error.DAY_TIME: A time of day is written 22:30.
error.DAY_TIME_SAME: Quiet hours end at another time than they begin.
unsubscribe.ask: Do you want no more mails of this sort?
unsubscribe.button: No more mails of this sort
unsubscribe.done: You get no more mails of this sort.
$phrases$);
