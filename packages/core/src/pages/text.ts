import type { Language } from '../scopes.ts';
import { type Fragment, html } from './html.ts';

/** Every word of the pages; what each scope gives stands in the scope table. */
const en = {
  signedInAs: 'Signed in as',
  consent: {
    title: (client: string) => `Allow ${client}?`,
    /** Follows the client's name in the heading. */
    ask: (service: Fragment) => html`asks for access to your ${service} account`,
    switchAccount: 'Use another account',
    scopes: (client: Fragment) => html`If you allow it, ${client} can:`,
    onlyNew: 'It asks for more than you allowed before. What was added is marked “new”.',
    newBadge: 'New',
    noPassword: (client: Fragment) => html`${client} never sees your password.`,
    withdraw: 'You can withdraw this access at any time under “Connected apps”.',
    sentBack: (host: Fragment) => html`Either way, you return to ${host}`,
    approve: 'Allow',
    deny: 'Deny',
  },
  apps: {
    title: 'Connected apps',
    intro: (service: Fragment) =>
      html`These apps can see parts of your ${service} account because you allowed it.`,
    since: (date: Fragment) => html`Allowed on ${date}`,
    changed: (date: Fragment) => html`Last changed on ${date}`,
    remove: 'Remove access',
    /** Follows `remove` for those who hear the page. */
    removeOf: (client: Fragment) => html`of ${client}`,
    removed: 'The app no longer has access to your account.',
    emptyTitle: 'No connected apps',
    empty: (service: Fragment) =>
      html`When you allow an app to see your ${service} account, it appears here and you can remove it again.`,
  },
  errors: {
    unknown_client: {
      title: 'We do not know this app',
      advice:
        'The app that sent you here is not registered with us, or it was switched off. Go back to the app, and tell its makers if this happens again.',
    },
    redirect_mismatch: {
      title: 'We stopped to protect you',
      advice:
        'The app asked us to send you to an address that it has not registered with us, so we went no further. Nothing was shared. Please tell the makers of the app.',
    },
    invalid_request: {
      title: 'The app made a mistake',
      advice:
        'The app sent us a request that we cannot understand. Go back to the app and try again; tell its makers if it does not help.',
    },
    expired: {
      title: 'This page is no longer valid',
      advice: 'It was open for too long, or you have already answered. Go back to the app and start again.',
    },
    csrf: {
      title: 'We could not check your answer',
      advice:
        'To be safe, we changed nothing. Make sure that your browser accepts cookies, then go back, reload the page and try again.',
    },
    not_found: {
      title: 'There is no page here',
      advice: 'Check the address, or go back to the app and start again.',
    },
    rate_limited: {
      title: 'Too many attempts',
      advice: 'Please wait a minute, then try again.',
    },
    unavailable: {
      title: 'We will be right back',
      advice: 'The service cannot answer at the moment. Please try again in a few minutes.',
    },
    internal: {
      title: 'Something went wrong on our side',
      advice: 'Please try again. If it does not help, contact us and quote the reference below.',
    },
    method: {
      title: 'This page cannot be opened this way',
      advice: 'Go back to the app and start again.',
    },
  },
  technical: 'For the developers of the app',
  reference: 'Reference:',
};

/** What English says, every other language has to say: a word that is missing does not compile. */
type Words = typeof en;

export type ErrorKind = keyof Words['errors'];

const fr: Words = {
  signedInAs: 'Connecté en tant que',
  consent: {
    title: (client) => `Autoriser ${client}\u00a0?`,
    ask: (service) => html`demande l’accès à votre compte ${service}`,
    switchAccount: 'Changer de compte',
    scopes: (client) => html`Si vous l’autorisez, ${client} pourra\u00a0:`,
    onlyNew:
      'L’application demande plus que ce que vous aviez autorisé. Les ajouts portent la mention «\u00a0nouveau\u00a0».',
    newBadge: 'Nouveau',
    noPassword: (client) => html`${client} ne voit jamais votre mot de passe.`,
    withdraw: 'Vous pourrez retirer cet accès à tout moment dans «\u00a0Applications connectées\u00a0».',
    sentBack: (host) => html`Dans tous les cas, vous retournerez sur ${host}`,
    approve: 'Autoriser',
    deny: 'Refuser',
  },
  apps: {
    title: 'Applications connectées',
    intro: (service) =>
      html`Ces applications voient une partie de votre compte ${service} parce que vous l’avez autorisé.`,
    since: (date) => html`Autorisée le ${date}`,
    changed: (date) => html`Modifiée le ${date}`,
    remove: 'Retirer l’accès',
    removeOf: (client) => html`de ${client}`,
    removed: 'L’application n’a plus accès à votre compte.',
    emptyTitle: 'Aucune application connectée',
    empty: (service) =>
      html`Quand vous autorisez une application à voir votre compte ${service}, elle apparaît ici et vous pouvez la retirer.`,
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

export const text: { readonly [L in Language]: Words } = { en, fr };
