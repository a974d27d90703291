import { html } from '@ostiary/core/console';
import type { Words } from '../en/index.ts';
import { deliveries } from './deliveries.ts';
import { endpoints, recovery, secrets } from './endpoints.ts';
import { events, trigger } from './events.ts';
import { failures } from './failures.ts';
import { firstRun } from './first-run.ts';
import { operators } from './operators.ts';
import { requests } from './requests.ts';
import { snippets } from './snippets.ts';
import { tools } from './tools.ts';

/** The words of the sandbox console in French. */
export const french: Words = {
  title: 'Console de test',
  testMode: 'Mode test',
  signOut: 'Se déconnecter',
  back: 'Événements et points de terminaison',
  cancel: 'Annuler',
  show: 'Afficher',
  filter: 'Filtrer',
  nothingFits: 'Rien ne correspond à ce filtre.',
  live: 'En direct',
  lost: 'Pas de connexion, nouvel essai en cours',
  reload: 'Rechargez la page pour voir les nouveautés',
  notices: {
    signed_out: 'Vous êtes déconnecté.',
    ended: 'Vous avez été déconnecté\u00a0: la session est terminée, ou la clé n’ouvre plus la console.',
    sent: 'L’événement est en route.',
    redelivered: 'L’événement est de nouveau en route.',
    no_match: 'Rien n’a été envoyé\u00a0: aucun point de terminaison activé n’accepte ce type d’événement.',
    disabled: 'Rien n’a été envoyé\u00a0: le point de terminaison est désactivé. Activez-le d’abord.',
    gone: 'Rien n’a été modifié\u00a0: le point de terminaison n’existe plus.',
    endpoint_added: 'Le point de terminaison est enregistré.',
    endpoint_enabled: 'Le point de terminaison est activé.',
    endpoint_disabled: 'Le point de terminaison est désactivé, et ce qui l’attendait est annulé.',
    endpoint_removed: 'Le point de terminaison est supprimé, et ce qui l’attendait est annulé.',
    endpoint_saved: 'Le point de terminaison est modifié.',
    secret_changed: 'Le nouveau secret signe dès la prochaine tentative.',
    kyc_changed:
      'La vérification d’identité est modifiée, et vos points de terminaison de test sont avertis.',
    kyc_same: 'Rien n’a été modifié\u00a0: la vérification d’identité en était déjà là.',
    kyc_reset: 'Chaque utilisateur de test est de nouveau comme au début.',
    paid: 'Le paiement est lancé\u00a0: voici ce qu’il devient.',
  },
  signIn: {
    intro: (prefix) =>
      html`Connectez-vous avec une clé d’API de test\u00a0: elle commence par ${prefix} et porte le scope <code>webhooks</code>.`,
    key: 'Clé d’API de test',
    submit: 'Se connecter',
    refused: (prefix) =>
      html`Cette clé n’ouvre pas la console. Seules les clés de test le peuvent\u00a0: elles commencent par ${prefix}, portent le scope <code>webhooks</code>, sont en vigueur, n’exigent pas de signature et viennent d’une adresse qu’elles autorisent.`,
    tooMany: 'Trop de tentatives depuis votre adresse. Patientez une minute.',
    wrongKey: 'Cette clé n’a pas été acceptée.',
    promise: 'La clé n’est pas conservée dans votre navigateur. Vous serez déconnecté après 8 heures.',
  },
  endpoints,
  trigger,
  events,
  deliveries,
  failures,
  requests,
  secrets,
  recovery,
  tools,
  firstRun,
  snippets,
  operators,
};
