import type { Texts } from './texts.ts';

/** Spanish. */
export const es: Texts = {
  signedInAs: 'Sesión iniciada como',
  consent: {
    title: '¿Permitir el acceso a {client}?',
    ask: 'pide acceso a su cuenta de {service}',
    switchAccount: 'Usar otra cuenta',
    scopes: 'Si lo permite, {client} podrá:',
    onlyNew: 'Pide más de lo que usted permitió antes. Lo que se añadió lleva la marca «nuevo».',
    newBadge: 'Nuevo',
    noPassword: '{client} nunca ve su contraseña.',
    withdraw: 'Puede retirar este acceso en cualquier momento en «Aplicaciones conectadas».',
    sentBack: 'En ambos casos volverá a {host}',
    approve: 'Permitir',
    deny: 'Rechazar',
    terms: 'Condiciones de la aplicación',
    privacy: 'Privacidad de la aplicación',
  },
  apps: {
    title: 'Aplicaciones conectadas',
    intro: 'Estas aplicaciones ven parte de su cuenta de {service} porque usted lo permitió.',
    since: 'Permitida el {date}',
    changed: 'Último cambio el {date}',
    remove: 'Retirar el acceso',
    removeOf: 'de {client}',
    removed: 'La aplicación ya no tiene acceso a su cuenta.',
    emptyTitle: 'Ninguna aplicación conectada',
    empty:
      'Cuando permita que una aplicación vea su cuenta de {service}, aparecerá aquí y podrá retirarla de nuevo.',
  },
  cancel: {
    title: '¿Volver sin iniciar sesión?',
    text: 'No inicia sesión y {client} no recibe ningún acceso.',
    back: 'Volver a {client}',
  },
  logout: {
    title: '¿Cerrar sesión?',
    ask: 'Está a punto de cerrar su sesión en {service}.',
    askedBy: '{client} pide cerrar su sesión en {service}.',
    leave: 'Cerrar sesión',
    stay: 'Mantener la sesión',
    left: {
      title: 'Su sesión está cerrada',
      advice: 'Ya no tiene una sesión abierta en {service}. Puede cerrar esta página.',
    },
    stayed: {
      title: 'Su sesión sigue abierta',
      advice: 'Nada ha cambiado en {service}. Puede cerrar esta página.',
    },
  },
  errors: {
    unknown_client: {
      title: 'No conocemos esta aplicación',
      advice:
        'La aplicación que le envió aquí no está registrada con nosotros, o fue desactivada. Vuelva a la aplicación y avise a sus autores si esto se repite.',
    },
    redirect_mismatch: {
      title: 'Nos detuvimos para protegerle',
      advice:
        'La aplicación nos pidió que le enviáramos a una dirección que no ha registrado con nosotros, así que no seguimos. No se compartió nada. Por favor, avise a los autores de la aplicación.',
    },
    invalid_request: {
      title: 'La aplicación cometió un error',
      advice:
        'La aplicación nos envió una petición que no entendemos. Vuelva a la aplicación e inténtelo de nuevo; si no sirve, avise a sus autores.',
    },
    expired: {
      title: 'Esta página ya no es válida',
      advice:
        'Estuvo abierta demasiado tiempo, o usted ya respondió. Vuelva a la aplicación y empiece de nuevo.',
    },
    no_cookie: {
      title: 'Su navegador no envió nuestra cookie',
      advice:
        'Un inicio de sesión solo continúa en el navegador en el que empezó, y necesita una cookie. Permita las cookies de este sitio en los ajustes de su navegador, después vuelva a la aplicación y empiece de nuevo.',
    },
    csrf: {
      title: 'No pudimos comprobar su respuesta',
      advice:
        'Por seguridad no cambiamos nada. Compruebe que su navegador acepta cookies, vuelva atrás, recargue la página e inténtelo de nuevo.',
    },
    not_found: {
      title: 'Aquí no hay ninguna página',
      advice: 'Compruebe la dirección, o vuelva a la aplicación y empiece de nuevo.',
    },
    rate_limited: {
      title: 'Demasiados intentos',
      advice: 'Espere un minuto e inténtelo de nuevo.',
    },
    unavailable: {
      title: 'Volvemos enseguida',
      advice: 'El servicio no puede responder en este momento. Inténtelo de nuevo en unos minutos.',
    },
    internal: {
      title: 'Algo salió mal de nuestro lado',
      advice: 'Inténtelo de nuevo. Si no sirve, escríbanos e indique la referencia de abajo.',
    },
    method: {
      title: 'Esta página no se puede abrir así',
      advice: 'Vuelva a la aplicación y empiece de nuevo.',
    },
  },
  technical: 'Para los desarrolladores de la aplicación',
  reference: 'Referencia:',
};
