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
    'Il signe chaque événement\u00a0; votre application doit le connaître. Laissez vide pour en obtenir un généré, ou saisissez de 16 à 256 caractères.',
  types: 'Types d’événements',
  refused: 'Le point de terminaison n’a pas été enregistré.',
  badTypes: 'Choisissez au moins un type.',
  secretAgain:
    'La page ne le conserve pas\u00a0: saisissez-le de nouveau, de 16 à 256 caractères. Laissé vide, un secret est généré.',
  twin: (id) =>
    html`Un autre de vos points de terminaison a cette adresse\u00a0: ${id}. Les deux recevraient chaque événement.`,
  anyway: 'L’enregistrer quand même',
  saveAnyway: 'La modifier quand même',
  edit: 'Modifier l’adresse et les types',
  rotate: 'Remplacer le secret',
  editTitle: 'Modifier un point de terminaison',
  editUrlHint:
    'Une adresse https publique. Ce qui attend le point de terminaison y est envoyé dès la prochaine tentative.',
  editRefused: 'Le point de terminaison n’a pas été modifié.',
  save: 'Enregistrer',
  goneTitle: 'Ce point de terminaison n’existe pas',
};

export const secrets: Words['secrets'] = {
  title: 'Remplacer le secret',
  underWay:
    'Un point de terminaison n’a qu’un secret à la fois. Le nouveau signe toute tentative dès la prochaine, y compris les nouveaux essais d’événements en cours.',
  overlap:
    'Faites d’abord accepter les deux secrets à votre application, pour qu’aucun événement ne soit refusé. Un événement refusé est renvoyé comme après tout échec.',
  generateTitle: 'Un secret généré',
  generateHint: 'Il vous est d’abord montré. L’ancien reste en vigueur jusqu’à votre accord.',
  generate: 'Générer un secret',
  generatedTitle: 'Votre nouveau secret',
  generatedHint: 'Il n’est pas encore en vigueur. Donnez-le à votre application, puis faites-le signer.',
  onlyNow: 'Il est affiché maintenant et plus jamais ensuite.',
  use: 'Signer avec lui désormais',
  discard: 'Garder l’ancien',
  ownTitle: 'Un secret de votre choix',
  own: 'Nouveau secret',
  ownHint: 'De 16 à 256 caractères aléatoires. Il n’est jamais affiché.',
  refused: 'Le secret n’a pas été remplacé.',
  toEndpoint: 'Vers le point de terminaison',
  newTitle: 'Le secret de votre point de terminaison',
  newHint: 'Donnez ce secret à votre application\u00a0: il signe chaque événement.',
};

export const recovery: Words['recovery'] = {
  title: 'Récupérer ce qui a été abandonné',
  hint: 'Livre de nouveau ce qui a été abandonné après la dernière tentative, depuis un moment donné.',
  disabled: 'Activez d’abord le point de terminaison.',
  since: 'Depuis (UTC)',
  sinceHint: 'Date et heure en UTC, comme sur cette page.',
  recover: 'Récupérer',
  refused: 'Rien n’a été récupéré.',
  badSince: 'Indiquez une date et une heure complètes, dans l’ordre année, mois, jour.',
  none: 'Rien n’a été abandonné depuis.',
  done: (count) => `Livraisons remises en file\u00a0: ${count}.`,
  more: (count) =>
    `Livraisons remises en file\u00a0: ${count}. Il peut en rester\u00a0: récupérez encore une fois.`,
};
