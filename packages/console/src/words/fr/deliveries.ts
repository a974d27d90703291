import { html } from '@ostiary/core/console';
import type { Words } from '../en/index.ts';

export const deliveries: Words['deliveries'] = {
  title: 'Livraisons',
  emptyTitle: 'Aucune livraison',
  emptyEvent: 'Aucun point de terminaison activé n’acceptait ce type d’événement à sa publication.',
  emptyEndpoint: 'Rien n’a encore été envoyé à ce point de terminaison.',
  again: 'Livrer à nouveau ici',
  states: {
    pending: 'En attente',
    delivered: 'Livré',
    dropped: 'Abandonné',
    cancelled: 'Annulé',
    none: 'Aucun destinataire',
  },
  more: 'Livraisons plus anciennes',
  all: 'Toutes les livraisons',
  andOlder: 'et de plus anciennes',
  attempt: (number, of) => html`Tentative ${number} sur ${of}`,
  attemptBeyond: (number) => html`Tentative ${number}`,
  succeeded: 'Votre point de terminaison a accepté l’événement.',
  noStatus: 'Pas de réponse',
  whatToDo: 'Que faire\u00a0:',
  answer: (bytes) => html`Ce qu’il a répondu (${bytes} octets)`,
  answerCut: 'Ce qu’il a répondu (les 16 premiers Kio)',
  answerTo: (number) => `Réponse à la tentative ${number}`,
  noAnswer: 'Il a répondu par un corps vide.',
  sent: 'Ce qui a été envoyé',
  ofAttempt: (number) => `à la tentative ${number}`,
  requestOf: (number) => `Requête de la tentative ${number}`,
  curlOf: (number) => `Tentative ${number} en commande curl`,
  requestUnknown: 'On ne sait plus ce qui a été envoyé : le point de terminaison a été supprimé.',
  changed: (time) =>
    html`Le point de terminaison a été modifié ${time}. L’URL et la signature sont celles de ses réglages actuels, et peuvent différer de ce qui a été envoyé.`,
  neverSent: 'Aucune connexion n’a été établie : rien n’en a été envoyé.',
  oldSignature:
    'La signature est du moment de la tentative : 5 minutes plus tard, elle est refusée comme trop ancienne.',
  onlyTo: (endpoint) => html`Seulement les livraisons à ${endpoint}.`,
  next: (time) => html`Prochaine tentative ${time}`,
  underWay: 'La première tentative va commencer.',
  dropped:
    'Toutes les tentatives ont échoué, il n’y en aura pas d’autre. Livrez à nouveau une fois la cause écartée.',
  cancelled: 'Annulé parce que le point de terminaison a été désactivé ou supprimé.',
  history: {
    title: 'Les dernières 24 heures',
    table: 'Heure par heure',
    hour: 'Heure (UTC)',
    cut: 'Seules les 10\u00a0000 livraisons les plus récentes sont comptées.',
  },
};
