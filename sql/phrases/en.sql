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
EVENT_CANCELLED: {actor} called off the event “{title}”.
CIRCLE_ADDED: {actor} added you to “{circle}”.
INFO_REQUESTED: {actor} would like to send you a card and asks for your address.
INFO_ANSWERED.ACCEPTED: {actor} gave you their address.
INFO_ANSWERED.DECLINED: {actor} did not give you their address.
OFFER_ANSWERED: {actor} would like a card of yours.
FOLLOW_UP_UNABLE: {actor} cannot send you a card.
BOOKING_CHANGED.MOVED: {actor} moved a class you booked.
BOOKING_CHANGED.CANCELLED: {actor} called off a class you booked.
MESSAGED: {actor} wrote to you.

# buttons of notifications
action.OPEN_URL: Open the store
action.FOLLOW_BACK: Follow back
action.ATTEND: Attend
action.APPROVE_INFO_REQUEST: Give address

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
error.NOT_FOUND: It is not there any more.
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
error.USERNAME_TAKEN: The name {value} is taken.
error.OWN_POST: You cannot do this to your own post.
error.VOTED: You have already voted.
error.VOTING_OFF: Voting is off here.
$phrases$);
