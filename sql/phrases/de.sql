-- Die Texte auf Deutsch: dieselben Schlüssel wie im Englischen.

CALL phrases('de', $phrases$
# Zahlen und Zeiten
number.group: .
date.weekdays: Mo Di Mi Do Fr Sa So
date.months: Jan. Feb. März Apr. Mai Juni Juli Aug. Sep. Okt. Nov. Dez.
date.form: {weekday}, {day}. {month}, {time}

# Mitteilungen
FOLLOWED: {actor} folgt dir.
REACTED: {actor} hat auf etwas von dir reagiert.
REACTED.HEART.outfit_post: {actor} liebt dein Outfit.
REACTED.HEART.product_post: {actor} liebt deinen Fund.
REACTED.HEART.photo_post: {actor} liebt dein Foto.
REACTED.HEART.card_offer: {actor} liebt dein Angebot.
REACTED.HEART.card_request: {actor} liebt deine Anfrage.
REACTED.HEART.thank_you: {actor} liebt dein Dankeschön.
REACTED.HEART.announcement: {actor} liebt deine Ankündigung.
REACTED.HEART.event: {actor} liebt deine Veranstaltung „{title}“.
REACTED.HEART.text_post: {actor} liebt deinen Beitrag.
REACTED.LIKE.outfit_post: {actor} gefällt dein Outfit.
REACTED.LIKE.product_post: {actor} gefällt dein Fund.
REACTED.LIKE.photo_post: {actor} gefällt dein Foto.
REACTED.LIKE.card_offer: {actor} gefällt dein Angebot.
REACTED.LIKE.card_request: {actor} gefällt deine Anfrage.
REACTED.LIKE.thank_you: {actor} gefällt dein Dankeschön.
REACTED.LIKE.announcement: {actor} gefällt deine Ankündigung.
REACTED.LIKE.event: {actor} gefällt deine Veranstaltung „{title}“.
REACTED.LIKE.text_post: {actor} gefällt dein Beitrag.
REACTED.TOP.outfit_post: {actor} hat dein Outfit hervorgehoben.
REACTED.TOP.product_post: {actor} hat deinen Fund hervorgehoben.
REACTED.TOP.photo_post: {actor} hat dein Foto hervorgehoben.
REACTED.TOP.card_offer: {actor} hat dein Angebot hervorgehoben.
REACTED.TOP.card_request: {actor} hat deine Anfrage hervorgehoben.
REACTED.TOP.thank_you: {actor} hat dein Dankeschön hervorgehoben.
REACTED.TOP.announcement: {actor} hat deine Ankündigung hervorgehoben.
REACTED.TOP.event: {actor} hat deine Veranstaltung „{title}“ hervorgehoben.
REACTED.TOP.text_post: {actor} hat deinen Beitrag hervorgehoben.
REACTED.AGREE.comment: {actor} stimmt deinem Kommentar zu.
VOTED.outfit_post[one]: {count} Stimme zu deinem Outfit.
VOTED.outfit_post: {count} Stimmen zu deinem Outfit.
VOTED.product_post[one]: {count} Stimme zu deinem Fund.
VOTED.product_post: {count} Stimmen zu deinem Fund.
COMMENTED: {actor} hat kommentiert: {text}
PRODUCT_SUGGESTED: {actor} schlägt dir {product} von {brand} vor.
TAGGED: {actor} dankt dir.
ANNOUNCED: {actor} kündigt an: {text}
EVENT_INVITED: {actor} lädt dich zu „{title}“ ein.
EVENT_CHANGED: {actor} hat die Veranstaltung „{title}“ geändert.
EVENT_CANCELLED: {actor} hat die Veranstaltung „{title}“ abgesagt.
CIRCLE_ADDED: {actor} hat dich zu „{circle}“ hinzugefügt.
INFO_REQUESTED: {actor} möchte dir eine Karte schicken und bittet um deine Adresse.
INFO_ANSWERED.ACCEPTED: {actor} hat dir die Adresse gegeben.
INFO_ANSWERED.DECLINED: {actor} hat dir die Adresse nicht gegeben.
OFFER_ANSWERED: {actor} möchte eine Karte von dir.
FOLLOW_UP_UNABLE: {actor} kann dir keine Karte schicken.
BOOKING_CHANGED.MOVED: {actor} hat einen Kurs verlegt, den du gebucht hast.
BOOKING_CHANGED.CANCELLED: {actor} hat einen Kurs abgesagt, den du gebucht hast.
MESSAGED: {actor} hat dir geschrieben.

# Knöpfe der Mitteilungen
action.OPEN_URL: Zum Laden
action.FOLLOW_BACK: Auch folgen
action.ATTEND: Teilnehmen
action.APPROVE_INFO_REQUEST: Adresse geben

# Absagen nach ihrem Code
error.REQUIRED: Das wird gebraucht.
error.INVALID: Das ist ungültig.
error.TOO_SHORT: Das ist zu kurz.
error.TOO_LONG: Das ist zu lang.
error.TOO_MANY: Das sind zu viele.
error.COMMON_PASSWORD: Dieses Passwort gehört zu den häufigsten. Wähle ein anderes.
error.WRONG_CREDENTIALS: Der Benutzername oder das Passwort ist falsch.
error.ADDRESS_REQUIRED: Gib zuerst deine Postanschrift an.
error.HOME_REQUIRED: Sag zuerst, in welchem Land oder welcher Stadt du wohnst.
error.EMAIL_REQUIRED: Gib zuerst eine E-Mail-Adresse an und bestätige sie.
error.PROVIDER_NOT_LINKED: Verbinde zuerst dein Konto bei diesem Anbieter.
error.NOT_CONFIGURED: Das wird hier nicht angeboten.
error.NOT_FOUND: Es ist nicht mehr da.
error.FORBIDDEN: Das darfst du nicht.
error.BLOCKED: Du hast diese Person blockiert.
error.SUSPENDED: Dein Konto ist gesperrt.
error.TAKEN: Das ist schon vergeben.
error.IN_USE: Das wird noch verwendet.
error.ALREADY_DONE: Das ist schon geschehen und lässt sich nicht ändern.
error.CLOSED: Das ist geschlossen.
error.FULL: Es ist kein Platz mehr frei.
error.OVERLAP: Diese Zeit ist schon belegt.
error.PAST: Es ist vorbei.
error.OUT_OF_REGION: Das reicht nicht bis dorthin, wo du wohnst.
error.REJECTED_PHOTO: Dieses Bild wurde von der Moderation abgelehnt.

# Absagen nach der verletzten Regel
error.LONGEST[one]: Höchstens {max} Zeichen ist erlaubt.
error.LONGEST: Höchstens {max} Zeichen sind erlaubt.
error.MOST[one]: Wähle höchstens {max}.
error.MOST: Wähle höchstens {max}.
error.CHOOSE: Wähle mindestens eines.
error.SELF: Das kannst du nicht mit dir selbst tun.
error.TWICE: Nichts darf zweimal vorkommen.
error.REACTION_KIND: Darauf lässt sich so nicht reagieren.
error.NO_ACTION: Diese Mitteilung hat keinen Knopf.
error.EMAIL_FORM: Das ist keine E-Mail-Adresse.
error.URL_FORM: Eine Webadresse beginnt mit https:// oder http://.
error.USERNAME_FORM: Ein Benutzername hat 2 bis 40 Buchstaben (A bis Z), Ziffern, Punkte und Unterstriche.
error.TIME_ZONE: Diese Zeitzone ist unbekannt. Bekannt ist zum Beispiel Europe/Madrid.
error.LOCALE: Diese Sprache ist unbekannt. Bekannt ist zum Beispiel de.
error.LINK_TEMPLATE: Eine Linkvorlage enthält {path} einmal und ein Schema wie https.
error.IMAGE_URL: Das ist kein Bild dieses Servers und keine https-Adresse.
error.PASSWORD_SHORT: Das Passwort muss mindestens {min} Zeichen haben.
error.PASSWORD_LONG: Das Passwort darf höchstens {max} Zeichen haben.
error.PASSWORD: Gib ein Passwort ein.
error.PASSWORD_WRONG: Das Passwort ist falsch.
error.PASSWORD_ASKED: Gib dafür dein Passwort ein.
error.LINK_USED: Dieser Link wurde schon benutzt oder ist zu alt. Fordere einen neuen an.
error.CREDENTIAL: Der Anbieter hat nicht bestätigt, wer du bist. Versuche es noch einmal.
error.EMAIL_TAKEN: Jemand anderes hat diese E-Mail-Adresse bestätigt.
error.USERNAME_TAKEN: Der Name {value} ist vergeben.
error.OWN_POST: Das kannst du nicht mit deinem eigenen Beitrag tun.
error.VOTED: Du hast schon abgestimmt.
error.VOTING_OFF: Hier wird nicht abgestimmt.
$phrases$);
