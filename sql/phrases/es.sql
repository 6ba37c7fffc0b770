-- Los textos en español: las mismas claves que en inglés.

CALL phrases('es', $phrases$
# números y horas
number.group: .
date.weekdays: lun mar mié jue vie sáb dom
date.months: ene feb mar abr may jun jul ago sep oct nov dic
date.form: {weekday} {day} {month}, {time}

# avisos
FOLLOWED: {actor} te sigue.
REACTED: {actor} ha reaccionado a algo tuyo.
REACTED.HEART.outfit_post: A {actor} le encanta tu conjunto.
REACTED.HEART.product_post: A {actor} le encanta tu hallazgo.
REACTED.HEART.photo_post: A {actor} le encanta tu foto.
REACTED.HEART.card_offer: A {actor} le encanta tu oferta.
REACTED.HEART.card_request: A {actor} le encanta tu petición.
REACTED.HEART.thank_you: A {actor} le encanta tu agradecimiento.
REACTED.HEART.announcement: A {actor} le encanta tu anuncio.
REACTED.HEART.event: A {actor} le encanta tu evento «{title}».
REACTED.HEART.text_post: A {actor} le encanta tu publicación.
REACTED.LIKE.outfit_post: A {actor} le gusta tu conjunto.
REACTED.LIKE.product_post: A {actor} le gusta tu hallazgo.
REACTED.LIKE.photo_post: A {actor} le gusta tu foto.
REACTED.LIKE.card_offer: A {actor} le gusta tu oferta.
REACTED.LIKE.card_request: A {actor} le gusta tu petición.
REACTED.LIKE.thank_you: A {actor} le gusta tu agradecimiento.
REACTED.LIKE.announcement: A {actor} le gusta tu anuncio.
REACTED.LIKE.event: A {actor} le gusta tu evento «{title}».
REACTED.LIKE.text_post: A {actor} le gusta tu publicación.
REACTED.TOP.outfit_post: {actor} ha destacado tu conjunto.
REACTED.TOP.product_post: {actor} ha destacado tu hallazgo.
REACTED.TOP.photo_post: {actor} ha destacado tu foto.
REACTED.TOP.card_offer: {actor} ha destacado tu oferta.
REACTED.TOP.card_request: {actor} ha destacado tu petición.
REACTED.TOP.thank_you: {actor} ha destacado tu agradecimiento.
REACTED.TOP.announcement: {actor} ha destacado tu anuncio.
REACTED.TOP.event: {actor} ha destacado tu evento «{title}».
REACTED.TOP.text_post: {actor} ha destacado tu publicación.
REACTED.AGREE.comment: {actor} está de acuerdo con tu comentario.
VOTED.outfit_post[one]: {count} voto para tu conjunto.
VOTED.outfit_post: {count} votos para tu conjunto.
VOTED.product_post[one]: {count} voto para tu hallazgo.
VOTED.product_post: {count} votos para tu hallazgo.
COMMENTED: {actor} ha comentado: {text}
PRODUCT_SUGGESTED: {actor} te propone {product} de {brand}.
TAGGED: {actor} te da las gracias.
ANNOUNCED: {actor} anuncia: {text}
EVENT_INVITED: {actor} te invita a «{title}».
EVENT_CHANGED: {actor} ha cambiado el evento «{title}».
EVENT_CHANGED.restored: {actor} dice que el evento “{title}” se celebra después de todo.
EVENT_CANCELLED: {actor} ha cancelado el evento «{title}».
EVENT_CANCELLED.note: {actor} canceló el evento “{title}”. {note}
EVENT_CANCELLED.left: El evento «{title}» no se celebra: quien lo organizaba ya no está.
CIRCLE_TRANSFERRED: {actor} te ha traspasado «{circle}».
CIRCLE_TRANSFERRED.left: «{circle}» es ahora tuyo: quien lo tenía ya no está.
CIRCLE_ADDED: {actor} te ha añadido a «{circle}».
INFO_REQUESTED: {actor} quiere enviarte una tarjeta y pide tu dirección.
INFO_ANSWERED.ACCEPTED: {actor} te ha dado su dirección.
INFO_ANSWERED.DECLINED: {actor} no te ha dado su dirección.
OFFER_ANSWERED: {actor} quiere una tarjeta tuya.
FOLLOW_UP_UNABLE: {actor} no puede enviarte una tarjeta.
BOOKING_CHANGED.MOVED: {actor} ha cambiado la hora de una clase que reservaste.
BOOKING_CHANGED.CANCELLED: {actor} ha cancelado una clase que reservaste.
BOOKING_CHANGED.left: No se da una clase de «{program}» que reservaste: quien la daba ya no está.
MESSAGED: {actor} te ha escrito.

# botones de los avisos
action.OPEN_URL: Abrir la tienda
action.FOLLOW_BACK: Seguir también
action.ATTEND: Asistir
action.APPROVE_INFO_REQUEST: Dar la dirección

# veredictos y líneas sobre las listas
verdict.NONE: Todavía no ha votado nadie.
verdict.TIE: Empate: {wear} dicen que te lo pongas, {change} que te cambies.
verdict.WEAR_IT[one]: ¡Póntelo! Lo dice {wear} de {count} voto.
verdict.WEAR_IT: ¡Póntelo! Lo dicen {wear} de {count} votos.
verdict.CHANGE_IT[one]: ¡Cámbiate! Lo dice {change} de {count} voto.
verdict.CHANGE_IT: ¡Cámbiate! Lo dicen {change} de {count} votos.
followers.title: Seguidores
followers.summary.own[one]: {count} persona te sigue
followers.summary.own: {count} personas te siguen
followers.summary.other[one]: {count} persona sigue a {name}
followers.summary.other: {count} personas siguen a {name}
following.title: Seguidos
following.summary.own[one]: Sigues a {count} persona
following.summary.own: Sigues a {count} personas
following.summary.other[one]: {name} sigue a {count} persona
following.summary.other: {name} sigue a {count} personas

# borradores de lo que cada persona envía
share.outfit_post: un conjunto de {name}
share.product_post: un hallazgo de {name}
share.photo_post: una foto de {name}
share.card_offer: una oferta de tarjetas de {name}
share.card_request: una petición de tarjetas de {name}
share.thank_you: un agradecimiento de {name}
share.announcement: un anuncio de {name}
share.event: un evento de {name}
share.text_post: una publicación de {name}
share.product: {product} de {brand}
share.hello: Hola:
share.question.title: {name}: pregunta
share.question: Hola:\n\nTengo una pregunta para {name}:\n\n
share.invitation: {name} te invita a unirte a la comunidad.
share.invitation.title: {name} te invita
share.invitation.app: {name} te invita a {app}.
share.invitation.app.title: {name} te invita a {app}
share.community: Ven y únete a la comunidad.
share.community.title: Únete a la comunidad

# correos
mail.VERIFY_EMAIL.subject: ¿Es esta tu dirección de correo?
mail.VERIFY_EMAIL.body: Para mostrar que esta dirección es tuya, abre {link}\n
mail.RESET_PASSWORD.subject: Una contraseña nueva
mail.RESET_PASSWORD.account: Para poner una contraseña nueva a {name}, abre {link}\n
mail.RESET_PASSWORD.body: {accounts}\nSi no la has pedido, no hay nada que hacer.\n
mail.CHANGE_PASSWORD.subject: Tu contraseña ha cambiado
mail.CHANGE_PASSWORD.body: Si no has sido tú, pide una contraseña nueva.\n
mail.CHANGE_EMAIL.subject: Tu dirección de correo ha cambiado
mail.CHANGE_EMAIL.body: El correo de tu cuenta ya no llega a esta dirección.\n\nSi no has sido tú,
  inicia sesión y cambia tu contraseña.\n
mail.LINK_PROVIDER.subject: Tu cuenta se ha conectado con {provider}
mail.LINK_PROVIDER.body: Ahora puedes iniciar sesión con {provider}.\n\nSi no has sido tú, inicia sesión,
  desconéctala y cambia tu contraseña.\n
mail.UNLINK_PROVIDER.subject: Tu cuenta ya no está conectada con {provider}
mail.UNLINK_PROVIDER.body: Ya no puedes iniciar sesión con {provider}.\n\nSi no has sido tú, inicia sesión y
  cambia tu contraseña.\n
mail.PRODUCT.subject: {product} de {brand}
mail.PRODUCT.body: {product} de {brand}\n\n{details}

# rechazos, por su código
error.REQUIRED: Esto es obligatorio.
error.INVALID: Esto no es válido.
error.TOO_SHORT: Esto es demasiado corto.
error.TOO_LONG: Esto es demasiado largo.
error.TOO_MANY: Son demasiados.
error.COMMON_PASSWORD: Esta contraseña es de las más comunes. Elige otra.
error.WRONG_CREDENTIALS: El nombre de usuario o la contraseña no es correcto.
error.ADDRESS_REQUIRED: Añade antes tu dirección postal.
error.HOME_REQUIRED: Di antes en qué país o ciudad vives.
error.EMAIL_REQUIRED: Añade antes una dirección de correo y confírmala.
error.PROVIDER_NOT_LINKED: Conecta antes tu cuenta de este proveedor.
error.NOT_CONFIGURED: Esto no se ofrece aquí.
error.NOT_FOUND: Esto no existe o no puedes verlo.
error.FORBIDDEN: No puedes hacer esto.
error.BLOCKED: Has bloqueado a esta persona.
error.SUSPENDED: Tu cuenta está suspendida.
error.TAKEN: Esto ya está ocupado.
error.IN_USE: Esto todavía se usa.
error.ALREADY_DONE: Esto ya está hecho y no se puede cambiar.
error.CLOSED: Esto está cerrado.
error.FULL: No quedan plazas.
error.OVERLAP: Esta hora ya está ocupada.
error.PAST: Ya ha pasado.
error.OUT_OF_REGION: Esto no llega a donde vives.
error.REJECTED_PHOTO: La moderación ha rechazado esta imagen.

# rechazos, por la regla incumplida
error.LONGEST[one]: Se permite {max} carácter como máximo.
error.LONGEST: Se permiten {max} caracteres como máximo.
error.MOST[one]: Elige {max} como máximo.
error.MOST: Elige {max} como máximo.
error.CHOOSE: Elige al menos uno.
error.SELF: No puedes hacerte esto a ti mismo.
error.TWICE: Nada puede aparecer dos veces.
error.REACTION_KIND: A esto no se puede reaccionar así.
error.NO_ACTION: Este aviso no tiene botón.
error.EMAIL_FORM: Esto no es una dirección de correo.
error.ONE_LINE: Escribe esto en una sola línea, sin caracteres de control.
error.URL_FORM: Una dirección web empieza por https:// o http://.
error.USERNAME_FORM: Un nombre de usuario tiene de 2 a 40 letras (de la A a la Z), cifras, puntos y guiones bajos.
error.TIME_ZONE: Esta zona horaria no se conoce. Una que sí: Europe/Madrid.
error.LOCALE: Este idioma no se conoce. Uno que sí: es.
error.LINK_TEMPLATE: Una plantilla de enlace tiene {path} una vez y un esquema como https.
error.IMAGE_URL: Esto no es una imagen de este servidor ni una dirección https.
error.PASSWORD_SHORT: La contraseña debe tener al menos {min} caracteres.
error.PASSWORD_LONG: La contraseña puede tener {max} caracteres como máximo.
error.PASSWORD: Introduce una contraseña.
error.PASSWORD_WRONG: La contraseña no es correcta.
error.PASSWORD_ASKED: Introduce tu contraseña para hacer esto.
error.LINK_USED: Este enlace ya se usó o es demasiado antiguo. Pide otro.
error.CREDENTIAL: El proveedor no ha confirmado quién eres. Inténtalo de nuevo.
error.EMAIL_TAKEN: Otra persona ha confirmado esta dirección de correo.
error.OWN_POST: No puedes hacer esto con tu propia publicación.
error.VOTED: Ya has votado.
error.VOTING_OFF: Aquí no se vota.
error.MANY_TOLD: Estos grupos pueden tener {max} miembros en total como máximo.
error.ENDS_BEFORE_START: El final debe ser posterior al comienzo.
error.MANY_POINTS: Un recorrido puede tener {max} puntos como máximo.
error.NOT_NEGATIVE: Introduce un número que no sea negativo.
error.POINT: Elige un punto en el mapa.
error.PLACE_TYPE: Solo los lugares concretos tienen un tipo.
error.PARENT_LEVEL: Debe estar en una parte mayor del mundo.
error.WHOLE_NUMBER: Introduce un número entero.
error.APP_FORM: El nombre de una aplicación tiene letras (de la A a la Z), cifras y guiones.
error.INTRO_IMAGES: Introduce {max} direcciones web como máximo.
error.MANY_BRANDS: Introduce {max} marcas como máximo.
error.LONG_BRAND: Una marca puede tener {max} caracteres como máximo.
error.VISIBILITY: Solo los eventos pueden ser por invitación.
error.CIRCLE: Elige un círculo.
error.SUGGEST_FOLLOWED: Solo puedes proponer productos a personas a las que sigues.
error.CURRENCY_FORM: Una moneda tiene tres mayúsculas, como EUR.
error.CONTACT_TWICE: Elige un contacto o introduce uno, no ambas cosas.
error.OWN_OFFER: No puedes hacer esto con tu propia oferta.
error.OFFER_CLOSED: Esta oferta está cerrada.
error.OWN_REQUEST: No puedes hacer esto con tu propia petición.
error.REQUEST_CLOSED: Esta petición está cerrada.
error.REQUEST_ANSWERED: Ya has respondido a esta petición.
error.CARD_RESOLVED: Ya has resuelto esta tarjeta.
error.LOW_LIMIT: El límite debe ser {min} como mínimo.
error.FLAG_RESOLVED: Esta denuncia ya se resolvió.
error.MANY_CONTACTS: Se pueden importar {max} contactos a la vez como máximo.
error.MANY_VENUES: Una comida puede tener {max} locales como máximo.
error.NO_APP: Indica qué aplicación es.
error.SAME_LOCATION: Ya es el mismo lugar.
error.OTHER_LEVEL: Solo se pueden unir lugares del mismo nivel.
error.CHANNEL: Elige un canal.
error.SENDS_ONLY: {name} solo envía a {places}.
error.CARD_SENT: Esta tarjeta ya está resuelta.
error.WAS_ANSWERED: Ya tiene respuesta.
error.TAKEN_BACK: Fue retirada.
error.ONE_DAY: Esto se puede deshacer durante 24 horas.
error.ALL_ANSWERS[one]: La oferta ya tiene su única respuesta.
error.ALL_ANSWERS: La oferta ya tiene sus {max} respuestas.
error.BELOW_TAKEN[one]: Ya ha respondido {min} persona.
error.BELOW_TAKEN: Ya han respondido {min} personas.
error.NOT_A_MEMBER: Esta persona no pertenece al círculo.
error.NOT_A_MEAL: Solo una comida tiene lugares donde se sirve.
error.NOT_PUBLIC: Un evento de un grupo se queda entre sus miembros.
error.NOT_CIRCLE: Un evento fuera de los círculos es público o por invitación.
error.NOT_INVITED: Un evento de un círculo no puede pasar a ser por invitación.
error.CALLED_OFF: Se canceló.
error.EVENT_OVER: Este evento ya ha terminado.
error.USERNAME: Introduce un nombre de usuario.
error.NO_ACCOUNT: Ninguna cuenta está conectada a este inicio de sesión. Regístrate antes.
error.LINKED_ELSEWHERE: Otra persona ha conectado esta cuenta.
error.LINKED_OTHER: Ya has conectado otra cuenta de este proveedor.
error.LAST_SIGN_IN: Es tu única forma de iniciar sesión. Pon antes una contraseña.
error.LAST_STAFF: El último miembro del personal no puede hacer esto.
error.CLASS_STARTED: Esta clase ya ha empezado.
error.OWN_CLASS: No puedes hacer esto con tu propia clase.
error.TRAINER_BUSY: Quien da la clase está ocupado a esa hora.
error.NOT_A_TRAINER: Esta persona no da estas clases.
error.TIMES: Elige al menos una hora.
error.SEATS: Introduce un número de plazas de {min} a {max}.
error.SEATS_BOOKED: Debe haber una plaza por reserva, y {max} como máximo.
error.IN_PAST: La hora debe estar en el futuro.
error.CLASS_TWICE: Esta clase ya tiene lugar a esa hora.
error.MINUTES: Introduce una duración de {min} a {max} minutos.
error.TRAINER_NEEDED: No se puede quitar a quien todavía tiene clases que dar.
error.SUSPENDED_UNTIL: Tu cuenta está suspendida hasta el {date}.
error.LOCATION_USED[one]: {count} cosa todavía remite a este lugar.
error.LOCATION_USED: {count} cosas todavía remiten a este lugar.
error.CLASSES_BOOKED[one]: {count} plaza sigue reservada en clases futuras.
error.CLASSES_BOOKED: {count} plazas siguen reservadas en clases futuras.
error.PHOTO_NEEDED: Una publicación necesita esta foto, porque no tiene otra.
error.STAFF: Solo el personal puede hacer esto.
error.NOT_A_GROUP: Cada persona se suscribe a un canal por sí misma.
error.DEFAULT_CHANNEL: Las cuentas nuevas solo pueden suscribirse a canales.
error.OWNER_STAYS: Quien es dueño de un círculo no puede dejarlo.
error.NOBODY_READS: Ya nadie lee esta conversación.
error.PHONE_FORM: Un número de teléfono tiene de 7 a 15 cifras, con + y el prefijo del país delante.
error.NO_WALL: Elige Facebook o Twitter.
error.PROVIDER: Conecta antes tu cuenta de {provider}.
error.COORDINATES: La latitud va de -90 a 90 y la longitud de -180 a 180.
error.INVALID.photoIds: Ninguna foto puede adjuntarse dos veces.
error.INVALID.locationId: Ningún lugar puede aparecer dos veces.
error.INVALID.closesAt: El final debe ser posterior al comienzo.
error.INVALID.avatarUrl: Una dirección web empieza por https:// o http://.
error.INVALID.videoUrls: Una dirección web empieza por https:// o http://.
error.INVALID.path: Los puntos de un recorrido se suceden en el tiempo y están en la Tierra.
error.INVALID.trainerIds: Solo dan clase los entrenadores.
error.INVALID.kind: A esto no se puede reaccionar así.
error.USERNAME_TAKEN: Este nombre de usuario está ocupado.

# avisos en la pantalla: nada que un extraño no pueda leer
push: Hay algo nuevo.
push.FOLLOWED: {actor} te sigue.
push.REACTED: {actor} ha reaccionado a algo tuyo.
push.VOTED[one]: {count} voto nuevo.
push.VOTED: {count} votos.
push.COMMENTED: {actor} ha comentado.
push.PRODUCT_SUGGESTED: {actor} te propone un producto.
push.TAGGED: {actor} te da las gracias.
push.ANNOUNCED: {actor} anuncia algo.
push.EVENT_INVITED: {actor} te invita a un evento.
push.EVENT_CHANGED: {actor} ha cambiado un evento.
push.EVENT_CANCELLED: {actor} ha cancelado un evento.
push.EVENT_CANCELLED.left: Un evento no se celebra.
push.CIRCLE_ADDED: {actor} te ha añadido a un círculo.
push.CIRCLE_TRANSFERRED: {actor} te ha traspasado un círculo.
push.CIRCLE_TRANSFERRED.left: Ahora eres responsable de un círculo.
push.INFO_REQUESTED: {actor} pide tu dirección.
push.INFO_ANSWERED: {actor} te ha respondido.
push.OFFER_ANSWERED: {actor} quiere una tarjeta tuya.
push.FOLLOW_UP_UNABLE: {actor} no puede enviarte una tarjeta.
push.BOOKING_CHANGED: {actor} ha cambiado una clase que reservaste.
push.BOOKING_CHANGED.left: No se da una clase que reservaste.
push.MESSAGED: {actor} te ha escrito.

mail.NOTIFICATION.subject: {text}
mail.NOTIFICATION.body: {text}\n\n{link}\n\nPara no recibir más correos de este tipo, abre {stop}\n

# devices and settings
error.PUSH_TOKEN: Esto no es un token del servicio de avisos.
error.DAY_TIME: Una hora del día se escribe 22:30.
error.DAY_TIME_SAME: Las horas de silencio acaban a otra hora que empiezan.
unsubscribe.ask: ¿No quieres más correos de este tipo?
unsubscribe.button: No más correos de este tipo
unsubscribe.done: No recibirás más correos de este tipo.
$phrases$);
