import { html } from '@ostiary/core/console';
import type { Words } from '../en/index.ts';

export const trigger: Words['trigger'] = {
  title: 'Déclencher un événement de test',
  intro: 'Il ressemble à un vrai et part vers vos points de terminaison de test. Aucun argent ne bouge.',
  type: 'Type de l’événement',
  send: 'Envoyer',
  edit: 'Modifier d’abord les données',
  editTitle: 'Modifier un événement de test',
  data: 'Données',
  dataHint: 'Un objet JSON conforme au type. C’est le membre «\u00a0data\u00a0» du corps.',
  refused: 'L’événement n’a pas été envoyé.',
};

export const events: Words['events'] = {
  title: 'Événements',
  emptyTitle: 'Aucun événement',
  empty: 'Déclenchez-en un, ou faites un paiement avec une clé de test.',
  newest: 'Événements les plus récents',
  older: 'Événements plus anciens',
  all: 'Tous les types d’événements',
  body: 'Corps',
  bodyHint:
    'Affiché avec des retours à la ligne. Il est signé et envoyé sans eux, avec les mêmes octets à chaque tentative.',
  filters: 'Filtres',
  type: 'Sorte d’événement',
  state: 'État des livraisons',
  endpoint: 'Point de terminaison',
  allEndpoints: 'Tous les points de terminaison',
  until: 'Jusqu’à (UTC)',
  untilWrong: (example) => `Écrivez la date sous la forme ${example}. La liste n’en tient pas compte.`,
  clear: 'Effacer les filtres',
  id: 'Identifiant de l’événement',
  find: 'Ouvrir',
  notFound: 'Aucun événement n’a cet identifiant.',
  nothingYet: 'Rien ne correspond parmi les événements cherchés : 5 000 à la fois.',
  searchOlder: 'Chercher dans les événements plus anciens',
  json: 'En JSON',
  sequence: (number) => html`Événement ${number}`,
  redeliverAll: 'Livrer à nouveau',
  redeliverHint:
    'À chaque point de terminaison activé qui accepte ce type maintenant, avec le même identifiant et le même corps.',
};
