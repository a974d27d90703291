import { html } from '@ostiary/core/console';
import type { Words } from '../en/index.ts';

export const endpoints: Words['endpoints'] = {
  title: 'Points de terminaison',
  add: 'Ajouter un point de terminaison',
  emptyTitle: 'Aucun point de terminaison',
  empty: 'Enregistrez l’adresse à laquelle votre application reçoit les événements.',
  enabled: 'Activé',
  disabled: 'Désactivé',
  allTypes: 'Tous les types d’événements',
  enable: 'Activer',
  disable: 'Désactiver',
  disableHint: 'Désactiver un point de terminaison annule ce qui l’attend.',
  remove: 'Supprimer ce point de terminaison',
  removeHint: 'Il ne pourra pas être rétabli, et ce qui l’attend sera annulé.',
  removeNow: 'Supprimer définitivement',
  removed: 'Point de terminaison supprimé',
  since: (time) => html`Enregistré ${time}`,
  addTitle: 'Ajouter un point de terminaison',
  url: 'Adresse (URL)',
  urlHint: 'Une adresse https publique. Chaque événement y est envoyé par un POST.',
  secret: 'Secret du webhook',
  secretHint:
    'De 16 à 256 caractères, connus aussi de votre application. Il signe chaque événement et n’est plus jamais affiché.',
  types: 'Types d’événements',
  refused: 'Le point de terminaison n’a pas été enregistré.',
  badTypes: 'Choisissez au moins un type.',
};
