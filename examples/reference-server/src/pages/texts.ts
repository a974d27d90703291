import { chooseLanguage as chooseAmong } from '@ostiary/web-kit';

/** The languages of the pages. */
export type Language = 'en' | 'fr';

const en = {
  signIn: 'Sign in',
  signInLead: 'Use your account to continue.',
  againTitle: 'Sign in again',
  againLead: 'Confirm that it is you, or use another account.',
  handle: 'Handle',
  password: 'Password',
  wrong: 'That handle and password do not match. Please try again.',
  stale: 'This page had been open for too long. Please try again.',
  busy: 'Many people are signing in right now. Please try again in a moment.',
  throttled: (minutes: number) =>
    minutes <= 1
      ? 'Too many attempts. Please wait a minute and try again.'
      : `Too many attempts. Please wait ${minutes} minutes and try again.`,
  homeTitle: 'One account, your decision',
  homeLead:
    'Apps send you here to sign in. They never see your password, and they learn only what you agree to share.',
  welcome: 'Your account',
  userId: 'User ID',
  phone: 'Phone',
  identityCheck: 'Identity check',
  kyc: { approved: 'Approved', pending: 'In progress', rejected: 'Not approved' },
  apps: 'Connected apps',
  passport: 'Your passport',
  showPassport: 'Show my passport',
  passportLead: 'Let a partner scan it to confirm who you are.',
  passportCode: 'Your passport as a QR code',
  validUntil: 'Valid until',
  remaining: 'Time left:',
  passportEnded: 'This passport has ended. Make a new one.',
  newPassport: 'New passport',
  passportAsText: 'Passport as text',
  passportHint:
    'Whoever has this text can confirm your identity with it until it ends. Give it only to a partner that you trust.',
  signOut: 'Sign out',
  back: 'Back to the start',
  notFoundTitle: 'Page not found',
  notFoundLead: 'There is nothing at this address.',
  refusedTitle: 'That did not work',
  refusedLead: 'The form could not be accepted. Please go back, reload the page and try again.',
  failedTitle: 'Something went wrong',
  failedLead: 'This is our fault, not yours. Please try again.',
  unavailableTitle: 'Back in a moment',
  unavailableLead: 'The service cannot answer right now. Please try again in a few seconds.',
  footer: 'Your password is typed only here, never in an app.',
};

const fr: typeof en = {
  signIn: 'Se connecter',
  signInLead: 'Utilisez votre compte pour continuer.',
  againTitle: 'Reconnectez-vous',
  againLead: 'Confirmez que c’est vous, ou utilisez un autre compte.',
  handle: 'Pseudonyme',
  password: 'Mot de passe',
  wrong: 'Ce pseudonyme et ce mot de passe ne correspondent pas. Veuillez réessayer.',
  stale: 'Cette page est restée ouverte trop longtemps. Veuillez réessayer.',
  busy: 'Beaucoup de personnes se connectent en ce moment. Veuillez réessayer dans un instant.',
  throttled: (minutes) =>
    minutes <= 1
      ? 'Trop de tentatives. Veuillez patienter une minute avant de réessayer.'
      : `Trop de tentatives. Veuillez patienter ${minutes} minutes avant de réessayer.`,
  homeTitle: 'Un seul compte, votre décision',
  homeLead:
    'Les applications vous envoient ici pour vous connecter. Elles ne voient jamais votre mot de passe et n’apprennent que ce que vous acceptez de partager.',
  welcome: 'Votre compte',
  userId: 'Identifiant',
  phone: 'Téléphone',
  identityCheck: 'Vérification d’identité',
  kyc: { approved: 'Approuvée', pending: 'En cours', rejected: 'Non approuvée' },
  apps: 'Applications connectées',
  passport: 'Votre passeport',
  showPassport: 'Afficher mon passeport',
  passportLead: 'Faites-le scanner par un partenaire pour confirmer votre identité.',
  passportCode: 'Votre passeport sous forme de code QR',
  validUntil: 'Valable jusqu’à',
  remaining: 'Temps restant :',
  passportEnded: 'Ce passeport a expiré. Créez-en un nouveau.',
  newPassport: 'Nouveau passeport',
  passportAsText: 'Le passeport sous forme de texte',
  passportHint:
    'Quiconque possède ce texte peut s’en servir pour confirmer votre identité jusqu’à son expiration. Ne le donnez qu’à un partenaire de confiance.',
  signOut: 'Se déconnecter',
  back: 'Retour à l’accueil',
  notFoundTitle: 'Page introuvable',
  notFoundLead: 'Il n’y a rien à cette adresse.',
  refusedTitle: 'Cela n’a pas fonctionné',
  refusedLead:
    'Le formulaire n’a pas pu être accepté. Veuillez revenir en arrière, recharger la page et réessayer.',
  failedTitle: 'Une erreur est survenue',
  failedLead: 'C’est de notre faute, pas de la vôtre. Veuillez réessayer.',
  unavailableTitle: 'De retour dans un instant',
  unavailableLead:
    'Le service ne peut pas répondre pour le moment. Veuillez réessayer dans quelques secondes.',
  footer: 'Votre mot de passe ne se saisit qu’ici, jamais dans une application.',
};

/** What the pages say. */
export type Texts = typeof en;

export const texts: Readonly<Record<Language, Texts>> = { en, fr };

/** The language of a page: what the app asked for (`ui_locales`), then what the browser prefers, then English. */
export const chooseLanguage = (uiLocales: string | undefined, acceptLanguage: string | undefined): Language =>
  chooseAmong(['en', 'fr'], uiLocales, acceptLanguage);
