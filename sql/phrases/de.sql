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
EVENT_CHANGED.restored: {actor} sagt, dass die Veranstaltung „{title}“ doch stattfindet.
EVENT_CANCELLED: {actor} hat die Veranstaltung „{title}“ abgesagt.
EVENT_CANCELLED.note: {actor} hat die Veranstaltung „{title}“ abgesagt. {note}
EVENT_CANCELLED.left: Die Veranstaltung „{title}“ findet nicht statt: Wer sie veranstaltet, ist nicht mehr hier.
CIRCLE_TRANSFERRED: {actor} hat dir „{circle}“ übergeben.
CIRCLE_TRANSFERRED.left: „{circle}“ gehört jetzt dir: Wer es vorher hatte, ist nicht mehr hier.
CIRCLE_ADDED: {actor} hat dich zu „{circle}“ hinzugefügt.
INFO_REQUESTED: {actor} möchte dir eine Karte schicken und bittet um deine Adresse.
INFO_ANSWERED.ACCEPTED: {actor} hat dir die Adresse gegeben.
INFO_ANSWERED.DECLINED: {actor} hat dir die Adresse nicht gegeben.
OFFER_ANSWERED: {actor} möchte eine Karte von dir.
FOLLOW_UP_UNABLE: {actor} kann dir keine Karte schicken.
BOOKING_CHANGED.MOVED: {actor} hat einen Kurs verlegt, den du gebucht hast.
BOOKING_CHANGED.CANCELLED: {actor} hat einen Kurs abgesagt, den du gebucht hast.
BOOKING_CHANGED.left: Ein Kurs „{program}“, den du gebucht hast, findet nicht statt: Die Leitung hat uns verlassen.
MESSAGED: {actor} hat dir geschrieben.

# Knöpfe der Mitteilungen
action.OPEN_URL: Zum Laden
action.FOLLOW_BACK: Auch folgen
action.ATTEND: Teilnehmen
action.APPROVE_INFO_REQUEST: Adresse geben

# Urteile und Zeilen über Listen
verdict.NONE: Noch hat niemand abgestimmt.
verdict.TIE: Unentschieden: {wear} sagen anziehen, {change} sagen umziehen.
verdict.WEAR_IT[one]: Anziehen! Das sagt {wear} von {count} Stimme.
verdict.WEAR_IT: Anziehen! Das sagen {wear} von {count} Stimmen.
verdict.CHANGE_IT[one]: Umziehen! Das sagt {change} von {count} Stimme.
verdict.CHANGE_IT: Umziehen! Das sagen {change} von {count} Stimmen.
followers.title: Abonnenten
followers.summary.own[one]: {count} Person folgt dir
followers.summary.own: {count} Personen folgen dir
followers.summary.other[one]: {count} Person folgt {name}
followers.summary.other: {count} Personen folgen {name}
following.title: Abonniert
following.summary.own[one]: Du folgst {count} Person
following.summary.own: Du folgst {count} Personen
following.summary.other[one]: {name} folgt {count} Person
following.summary.other: {name} folgt {count} Personen

# Entwürfe dessen, was Menschen selbst verschicken
share.outfit_post: ein Outfit von {name}
share.product_post: ein Fund von {name}
share.photo_post: ein Foto von {name}
share.card_offer: ein Kartenangebot von {name}
share.card_request: ein Kartenwunsch von {name}
share.thank_you: ein Dankeschön von {name}
share.announcement: eine Ankündigung von {name}
share.event: eine Veranstaltung von {name}
share.text_post: ein Beitrag von {name}
share.product: {product} von {brand}
share.hello: Hallo,
share.question.title: {name}: Frage
share.question: Hallo,\n\nich habe eine Frage an {name}:\n\n
share.invitation: {name} lädt dich in die Gemeinschaft ein.
share.invitation.title: {name} lädt dich ein
share.invitation.app: {name} lädt dich zu {app} ein.
share.invitation.app.title: {name} lädt dich zu {app} ein
share.community: Komm in die Gemeinschaft.
share.community.title: Komm in die Gemeinschaft

# Mails
mail.VERIFY_EMAIL.subject: Ist das deine E-Mail-Adresse?
mail.VERIFY_EMAIL.body: Um zu zeigen, dass diese Adresse dir gehört, öffne {link}\n
mail.RESET_PASSWORD.subject: Ein neues Passwort
mail.RESET_PASSWORD.account: Um ein neues Passwort für {name} festzulegen, öffne {link}\n
mail.RESET_PASSWORD.body: {accounts}\nWenn du das nicht wolltest, ist nichts zu tun.\n
mail.CHANGE_PASSWORD.subject: Dein Passwort wurde geändert
mail.CHANGE_PASSWORD.body: Wenn du das nicht warst, fordere ein neues Passwort an.\n
mail.CHANGE_EMAIL.subject: Deine E-Mail-Adresse wurde geändert
mail.CHANGE_EMAIL.body: Mails deines Kontos gehen nicht mehr an diese Adresse.\n\nWenn du das nicht warst,
  melde dich an und ändere dein Passwort.\n
mail.LINK_PROVIDER.subject: Dein Konto wurde mit {provider} verbunden
mail.LINK_PROVIDER.body: Du kannst dich jetzt mit {provider} anmelden.\n\nWenn du das nicht warst, melde dich an,
  löse die Verbindung und ändere dein Passwort.\n
mail.UNLINK_PROVIDER.subject: Dein Konto ist nicht mehr mit {provider} verbunden
mail.UNLINK_PROVIDER.body: Du kannst dich nicht mehr mit {provider} anmelden.\n\nWenn du das nicht warst, melde dich an
  und ändere dein Passwort.\n
mail.PRODUCT.subject: {product} von {brand}
mail.PRODUCT.body: {product} von {brand}\n\n{details}

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
error.NOT_FOUND: Das gibt es nicht, oder du darfst es nicht sehen.
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
error.ONE_LINE: Schreibe das in eine Zeile, ohne Steuerzeichen.
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
error.OWN_POST: Das kannst du nicht mit deinem eigenen Beitrag tun.
error.VOTED: Du hast schon abgestimmt.
error.VOTING_OFF: Hier wird nicht abgestimmt.
error.MANY_TOLD: Diese Gruppen dürfen zusammen höchstens {max} Mitglieder haben.
error.ENDS_BEFORE_START: Das Ende muss nach dem Anfang liegen.
error.MANY_POINTS: Eine Strecke kann höchstens {max} Punkte haben.
error.NOT_NEGATIVE: Gib eine Zahl ein, die nicht negativ ist.
error.POINT: Wähle einen Punkt auf der Karte.
error.PLACE_TYPE: Nur einzelne Orte haben eine Art.
error.PARENT_LEVEL: Es muss in einem größeren Teil der Welt liegen.
error.WHOLE_NUMBER: Gib eine ganze Zahl ein.
error.APP_FORM: Der Name einer Anwendung hat Buchstaben (A bis Z), Ziffern und Bindestriche.
error.INTRO_IMAGES: Gib höchstens {max} Webadressen ein.
error.MANY_BRANDS: Gib höchstens {max} Marken an.
error.LONG_BRAND: Eine Marke kann höchstens {max} Zeichen haben.
error.VISIBILITY: Nur Veranstaltungen können auf Einladung sein.
error.CIRCLE: Wähle einen Kreis.
error.SUGGEST_FOLLOWED: Du kannst nur Menschen etwas vorschlagen, denen du folgst.
error.CURRENCY_FORM: Eine Währung hat drei Großbuchstaben, etwa EUR.
error.CONTACT_TWICE: Wähle einen Kontakt oder gib einen ein, nicht beides.
error.OWN_OFFER: Das kannst du nicht mit deinem eigenen Angebot tun.
error.OFFER_CLOSED: Dieses Angebot ist geschlossen.
error.OWN_REQUEST: Das kannst du nicht mit deiner eigenen Anfrage tun.
error.REQUEST_CLOSED: Diese Anfrage ist geschlossen.
error.REQUEST_ANSWERED: Du hast diese Anfrage schon beantwortet.
error.CARD_RESOLVED: Diese Karte hast du schon erledigt.
error.LOW_LIMIT: Die Grenze muss mindestens {min} sein.
error.FLAG_RESOLVED: Diese Meldung ist schon erledigt.
error.MANY_CONTACTS: Höchstens {max} Kontakte können auf einmal übernommen werden.
error.MANY_VENUES: Ein Essen kann höchstens {max} Lokale haben.
error.NO_APP: Gib an, welche Anwendung das ist.
error.SAME_LOCATION: Das ist schon ein und derselbe Ort.
error.OTHER_LEVEL: Nur Orte derselben Ebene können zusammengelegt werden.
error.CHANNEL: Wähle einen Kanal.
error.SENDS_ONLY: {name} schickt nur nach {places}.
error.CARD_SENT: Diese Karte ist schon erledigt.
error.WAS_ANSWERED: Das wurde schon beantwortet.
error.TAKEN_BACK: Das wurde zurückgezogen.
error.ONE_DAY: Das kann 24 Stunden lang zurückgenommen werden.
error.ALL_ANSWERS[one]: Das Angebot hat seine einzige Antwort.
error.ALL_ANSWERS: Das Angebot hat alle {max} Antworten.
error.BELOW_TAKEN[one]: {min} Person hat schon geantwortet.
error.BELOW_TAKEN: {min} Personen haben schon geantwortet.
error.NOT_A_MEMBER: Diese Person gehört nicht zum Kreis.
error.NOT_A_MEAL: Nur eine Mahlzeit hat Orte, die sie ausgeben.
error.NOT_PUBLIC: Eine Veranstaltung einer Gruppe bleibt unter ihren Mitgliedern.
error.NOT_CIRCLE: Eine Veranstaltung außerhalb von Kreisen ist öffentlich oder auf Einladung.
error.NOT_INVITED: Eine Veranstaltung eines Kreises kann keine auf Einladung werden.
error.CALLED_OFF: Es wurde abgesagt.
error.EVENT_OVER: Diese Veranstaltung ist vorbei.
error.USERNAME: Gib einen Benutzernamen ein.
error.NO_ACCOUNT: Mit dieser Anmeldung ist kein Konto verbunden. Registriere dich zuerst.
error.LINKED_ELSEWHERE: Jemand anderes hat dieses Konto verbunden.
error.LINKED_OTHER: Du hast schon ein anderes Konto dieses Anbieters verbunden.
error.LAST_SIGN_IN: Nur so kannst du dich anmelden. Lege zuerst ein Passwort fest.
error.LAST_STAFF: Das kann die letzte Person der Belegschaft nicht.
error.CLASS_STARTED: Dieser Kurs hat schon begonnen.
error.OWN_CLASS: Das kannst du nicht mit deinem eigenen Kurs tun.
error.TRAINER_BUSY: Die Kursleitung ist zu dieser Zeit beschäftigt.
error.NOT_A_TRAINER: Diese Person unterrichtet das nicht.
error.TIMES: Wähle mindestens eine Zeit.
error.SEATS: Gib eine Zahl von Plätzen von {min} bis {max} an.
error.SEATS_BOOKED: Jede Buchung braucht einen Platz, und es gibt höchstens {max}.
error.IN_PAST: Die Zeit muss in der Zukunft liegen.
error.CLASS_TWICE: Dieser Kurs findet zu dieser Zeit schon statt.
error.MINUTES: Gib eine Dauer von {min} bis {max} Minuten an.
error.TRAINER_NEEDED: Wer noch Kurse zu geben hat, lässt sich nicht entfernen.
error.SUSPENDED_UNTIL: Dein Konto ist bis {date} gesperrt.
error.LOCATION_USED[one]: {count} Eintrag verweist noch auf diesen Ort.
error.LOCATION_USED: {count} Einträge verweisen noch auf diesen Ort.
error.CLASSES_BOOKED[one]: In künftigen Kursen ist noch {count} Platz gebucht.
error.CLASSES_BOOKED: In künftigen Kursen sind noch {count} Plätze gebucht.
error.PHOTO_NEEDED: Ein Beitrag braucht dieses Bild, denn er hat kein anderes.
error.STAFF: Das kann nur die Belegschaft.
error.NOT_A_GROUP: Einen Kanal abonniert jede Person selbst.
error.DEFAULT_CHANNEL: Neue Konten können nur Kanäle abonnieren.
error.OWNER_STAYS: Wem ein Kreis gehört, kann ihn nicht verlassen.
error.NOBODY_READS: Diese Unterhaltung liest niemand mehr.
error.PHONE_FORM: Eine Telefonnummer hat 7 bis 15 Ziffern, davor + und die Landesvorwahl.
error.NO_WALL: Wähle Facebook oder Twitter.
error.PROVIDER: Verbinde zuerst dein {provider}-Konto.
error.COORDINATES: Die Breite geht von -90 bis 90, die Länge von -180 bis 180.
error.INVALID.photoIds: Kein Foto darf zweimal angehängt sein.
error.INVALID.locationId: Kein Ort darf zweimal vorkommen.
error.INVALID.closesAt: Das Ende muss nach dem Anfang liegen.
error.INVALID.avatarUrl: Eine Webadresse beginnt mit https:// oder http://.
error.INVALID.videoUrls: Eine Webadresse beginnt mit https:// oder http://.
error.INVALID.path: Die Punkte einer Strecke folgen zeitlich aufeinander und liegen auf der Erde.
error.INVALID.trainerIds: Nur Trainerinnen und Trainer unterrichten.
error.INVALID.kind: Darauf lässt sich so nicht reagieren.
error.USERNAME_TAKEN: Dieser Benutzername ist vergeben.

# Meldungen auf dem Bildschirm: nichts, was Fremde nicht lesen dürfen
push: Es gibt etwas Neues.
push.FOLLOWED: {actor} folgt dir.
push.REACTED: {actor} hat auf etwas von dir reagiert.
push.VOTED[one]: {count} neue Stimme.
push.VOTED: {count} Stimmen.
push.COMMENTED: {actor} hat kommentiert.
push.PRODUCT_SUGGESTED: {actor} schlägt dir ein Produkt vor.
push.TAGGED: {actor} dankt dir.
push.ANNOUNCED: {actor} kündigt etwas an.
push.EVENT_INVITED: {actor} lädt dich zu einer Veranstaltung ein.
push.EVENT_CHANGED: {actor} hat eine Veranstaltung geändert.
push.EVENT_CANCELLED: {actor} hat eine Veranstaltung abgesagt.
push.EVENT_CANCELLED.left: Eine Veranstaltung findet nicht statt.
push.CIRCLE_ADDED: {actor} hat dich zu einem Kreis hinzugefügt.
push.CIRCLE_TRANSFERRED: {actor} hat dir einen Kreis übergeben.
push.CIRCLE_TRANSFERRED.left: Dir gehört jetzt ein Kreis.
push.INFO_REQUESTED: {actor} bittet um deine Adresse.
push.INFO_ANSWERED: {actor} hat dir geantwortet.
push.OFFER_ANSWERED: {actor} möchte eine Karte von dir.
push.FOLLOW_UP_UNABLE: {actor} kann dir keine Karte schicken.
push.BOOKING_CHANGED: {actor} hat einen Kurs geändert, den du gebucht hast.
push.BOOKING_CHANGED.left: Ein Kurs, den du gebucht hast, findet nicht statt.
push.MESSAGED: {actor} hat dir geschrieben.

mail.NOTIFICATION.subject: {text}
mail.NOTIFICATION.body: {text}\n\n{link}\n\nUm keine Mails dieser Art mehr zu bekommen, öffne {stop}\n

# devices and settings
error.PUSH_TOKEN: Das ist kein Token des Meldungsdienstes.
error.DAY_TIME: Eine Tageszeit schreibt man 22:30.
error.DAY_TIME_SAME: Ruhezeiten enden zu einer anderen Zeit, als sie beginnen.
unsubscribe.ask: Möchtest du keine Mails dieser Art mehr?
unsubscribe.button: Keine Mails dieser Art mehr
unsubscribe.done: Du bekommst keine Mails dieser Art mehr.
$phrases$);
