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
EVENT_CANCELLED: {actor} ha cancelado el evento «{title}».
CIRCLE_ADDED: {actor} te ha añadido a «{circle}».
INFO_REQUESTED: {actor} quiere enviarte una tarjeta y pide tu dirección.
INFO_ANSWERED.ACCEPTED: {actor} te ha dado su dirección.
INFO_ANSWERED.DECLINED: {actor} no te ha dado su dirección.
OFFER_ANSWERED: {actor} quiere una tarjeta tuya.
FOLLOW_UP_UNABLE: {actor} no puede enviarte una tarjeta.
BOOKING_CHANGED.MOVED: {actor} ha cambiado la hora de una clase que reservaste.
BOOKING_CHANGED.CANCELLED: {actor} ha cancelado una clase que reservaste.
MESSAGED: {actor} te ha escrito.

# botones de los avisos
action.OPEN_URL: Abrir la tienda
action.FOLLOW_BACK: Seguir también
action.ATTEND: Asistir
action.APPROVE_INFO_REQUEST: Dar la dirección

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
error.NOT_FOUND: Ya no está.
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
error.USERNAME_TAKEN: El nombre {value} está ocupado.
error.OWN_POST: No puedes hacer esto con tu propia publicación.
error.VOTED: Ya has votado.
error.VOTING_OFF: Aquí no se vota.
$phrases$);
