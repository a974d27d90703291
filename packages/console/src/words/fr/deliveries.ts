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
  next: (time) => html`Prochaine tentative ${time}`,
  underWay: 'La première tentative va commencer.',
  dropped:
    'Toutes les tentatives ont échoué, il n’y en aura pas d’autre. Livrez à nouveau une fois la cause écartée.',
  cancelled: 'Annulé parce que le point de terminaison a été désactivé ou supprimé.',
};
