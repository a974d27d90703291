import type { Texts } from './texts.ts';

/** French. */
export const fr: Texts = {
  signedInAs: 'Connecté en tant que',
  consent: {
    title: 'Autoriser {client}\u00a0?',
    ask: 'demande l’accès à votre compte {service}',
    switchAccount: 'Changer de compte',
    scopes: 'Si vous l’autorisez, {client} pourra\u00a0:',
    onlyNew:
      'L’application demande plus que ce que vous aviez autorisé. Les ajouts portent la mention «\u00a0nouveau\u00a0».',
    newBadge: 'Nouveau',
    noPassword: '{client} ne voit jamais votre mot de passe.',
    withdraw: 'Vous pourrez retirer cet accès à tout moment dans «\u00a0Applications connectées\u00a0».',
    sentBack: 'Dans tous les cas, vous retournerez sur {host}',
    approve: 'Autoriser',
    deny: 'Refuser',
    terms: 'Conditions de l’application',
    privacy: 'Confidentialité de l’application',
  },
  apps: {
    title: 'Applications connectées',
    intro: 'Ces applications voient une partie de votre compte {service} parce que vous l’avez autorisé.',
    since: 'Autorisée le {date}',
    changed: 'Modifiée le {date}',
    remove: 'Retirer l’accès',
    removeOf: 'de {client}',
    removed: 'L’application n’a plus accès à votre compte.',
    emptyTitle: 'Aucune application connectée',
    empty:
      'Quand vous autorisez une application à voir votre compte {service}, elle apparaît ici et vous pouvez la retirer.',
  },
  cancel: {
    title: 'Revenir sans vous connecter\u00a0?',
    text: 'Vous ne vous connectez pas, et {client} n’obtient aucun accès.',
    back: 'Revenir à {client}',
  },
  logout: {
    title: 'Se déconnecter\u00a0?',
    ask: 'Vous allez vous déconnecter de {service}.',
    askedBy: '{client} demande à vous déconnecter de {service}.',
    leave: 'Se déconnecter',
    stay: 'Rester connecté',
    left: {
      title: 'Vous êtes déconnecté',
      advice: 'Vous n’êtes plus connecté à {service}. Vous pouvez fermer cette page.',
    },
    stayed: {
      title: 'Vous êtes toujours connecté',
      advice: 'Rien n’a changé sur {service}. Vous pouvez fermer cette page.',
    },
  },
  errors: {
    unknown_client: {
      title: 'Nous ne connaissons pas cette application',
      advice:
        'L’application qui vous a envoyé ici n’est pas enregistrée chez nous, ou elle a été désactivée. Retournez à l’application et, si cela se reproduit, prévenez ses auteurs.',
    },
    redirect_mismatch: {
      title: 'Nous nous sommes arrêtés pour vous protéger',
      advice:
        'L’application nous a demandé de vous envoyer à une adresse qu’elle n’a pas enregistrée chez nous. Rien n’a été partagé. Merci de prévenir ses auteurs.',
    },
    invalid_request: {
      title: 'L’application a fait une erreur',
      advice:
        'L’application nous a envoyé une demande que nous ne comprenons pas. Retournez à l’application et réessayez\u00a0; si cela ne suffit pas, prévenez ses auteurs.',
    },
    expired: {
      title: 'Cette page n’est plus valable',
      advice:
        'Elle est restée ouverte trop longtemps, ou vous avez déjà répondu. Retournez à l’application et recommencez.',
    },
    no_cookie: {
      title: 'Votre navigateur n’a pas envoyé notre cookie',
      advice:
        'Une connexion ne continue que dans le navigateur où elle a commencé, et elle a besoin d’un cookie. Autorisez les cookies de ce site dans les réglages de votre navigateur, puis retournez à l’application et recommencez.',
    },
    csrf: {
      title: 'Nous n’avons pas pu vérifier votre réponse',
      advice:
        'Par prudence, nous n’avons rien changé. Vérifiez que votre navigateur accepte les cookies, puis revenez en arrière, rechargez la page et réessayez.',
    },
    not_found: {
      title: 'Il n’y a pas de page ici',
      advice: 'Vérifiez l’adresse, ou retournez à l’application et recommencez.',
    },
    rate_limited: {
      title: 'Trop de tentatives',
      advice: 'Patientez une minute, puis réessayez.',
    },
    unavailable: {
      title: 'Nous revenons tout de suite',
      advice: 'Le service ne peut pas répondre pour le moment. Réessayez dans quelques minutes.',
    },
    internal: {
      title: 'Un problème est survenu de notre côté',
      advice: 'Réessayez. Si cela ne suffit pas, contactez-nous en indiquant la référence ci-dessous.',
    },
    method: {
      title: 'Cette page ne peut pas être ouverte ainsi',
      advice: 'Retournez à l’application et recommencez.',
    },
  },
  technical: 'Pour les développeurs de l’application',
  reference: 'Référence\u00a0:',
};
