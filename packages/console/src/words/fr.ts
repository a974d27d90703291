import { html } from '@ostiary/core/console';
import type { Words } from './en.ts';

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
  },
  signIn: {
    intro: (prefix) =>
      html`Connectez-vous avec une clé d’API de test\u00a0: elle commence par ${prefix} et porte le scope <code>webhooks</code>.`,
    key: 'Clé d’API de test',
    submit: 'Se connecter',
    refused: (prefix) =>
      html`Cette clé n’ouvre pas la console. Seules les clés de test le peuvent\u00a0: elles commencent par ${prefix}, portent le scope <code>webhooks</code>, sont en vigueur, n’exigent pas de signature et viennent d’une adresse qu’elles autorisent.`,
    tooMany: 'Trop de tentatives depuis votre adresse. Patientez une minute.',
    promise: 'La clé n’est pas conservée dans votre navigateur. Vous serez déconnecté après 8 heures.',
  },
  endpoints: {
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
  },
  trigger: {
    title: 'Déclencher un événement de test',
    intro: 'Il ressemble à un vrai et part vers vos points de terminaison de test. Aucun argent ne bouge.',
    type: 'Type de l’événement',
    send: 'Envoyer',
    edit: 'Modifier d’abord les données',
    editTitle: 'Modifier un événement de test',
    data: 'Données',
    dataHint: 'Un objet JSON conforme au type. C’est le membre «\u00a0data\u00a0» du corps.',
    refused: 'L’événement n’a pas été envoyé.',
  },
  events: {
    title: 'Événements',
    emptyTitle: 'Aucun événement',
    empty: 'Déclenchez-en un, ou faites un paiement avec une clé de test.',
    newest: 'Événements les plus récents',
    older: 'Événements plus anciens',
    all: 'Tous les types d’événements',
    body: 'Corps',
    bodyHint:
      'Affiché avec des retours à la ligne. Il est signé et envoyé sans eux, avec les mêmes octets à chaque tentative.',
    sequence: (number) => html`Événement ${number}`,
    redeliverAll: 'Livrer à nouveau',
    redeliverHint:
      'À chaque point de terminaison activé qui accepte ce type maintenant, avec le même identifiant et le même corps.',
  },
  requests: {
    title: 'Requêtes',
    last: 'Dernières requêtes',
    emptyTitle: 'Aucune requête',
    empty: 'Les requêtes faites avec vos clés de test apparaissent ici.',
    all: 'Toutes les requêtes',
    failed: 'Requêtes en échec',
    newest: 'Requêtes les plus récentes',
    older: 'Requêtes plus anciennes',
    id: 'Identifiant de la requête',
    idHint: 'L’en-tête X-Request-Id d’une réponse, ou le requestId d’une erreur.',
    find: 'Chercher',
    notFound: 'Aucune requête n’a cet identifiant. Les requêtes sont gardées 7 jours.',
    kept: 'Les 5\u00a0000 dernières requêtes de vos clés de test, pendant 7 jours.',
    status: 'État',
    time: 'Date',
    duration: 'Durée',
    key: 'Clé d’API',
    sent: 'Ce que vous avez envoyé',
    answered: 'Ce qui a été répondu',
    noBody: 'Rien n’est gardé\u00a0: il n’y avait pas de JSON.',
    removed:
      'Les secrets et ce qui dit qui est une personne sont retirés. Les corps sont gardés jusqu’à 8\u00a0Kio.',
  },
  deliveries: {
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
  },
  /** By the `error` of an attempt; `status` has several. */
  failures: {
    target_refused: {
      what: 'L’adresse n’est pas autorisée, rien n’a été envoyé.',
      advice:
        'Le nom d’hôte doit être résolu, et seulement en adresses publiques. Vérifiez le DNS\u00a0; en développement, utilisez un tunnel avec une adresse https publique.',
    },
    timeout: {
      what: 'Pas de réponse en 10 secondes.',
      advice:
        'Répondez 2xx dès que l’événement est enregistré, et traitez-le ensuite. Si rien n’atteint votre serveur, vérifiez son pare-feu.',
    },
    connection_refused: {
      what: 'Rien n’écoute à cette adresse.',
      advice: 'Démarrez le serveur et comparez son port avec celui de l’URL.',
    },
    connection_failed: {
      what: 'Aucun chemin ne mène à cette adresse.',
      advice: 'Vérifiez que le DNS du nom d’hôte mène à un serveur en ligne.',
    },
    connection_reset: {
      what: 'La connexion a été fermée avant la réponse.',
      advice:
        'Cherchez une panne dans le journal de votre serveur, ou un proxy devant lui qui abandonne trop tôt.',
    },
    certificate: {
      what: 'Le certificat TLS n’est pas digne de confiance.',
      advice:
        'Présentez un certificat valide d’une autorité publique, pour ce nom d’hôte, avec ses certificats intermédiaires.',
    },
    tls: {
      what: 'Aucune connexion sécurisée n’a pu être établie.',
      advice: 'Vérifiez que ce port parle TLS 1.2 ou plus récent\u00a0: http simple ne suffit pas ici.',
    },
    protocol: {
      what: 'La réponse n’était pas du HTTP/1.1 correct.',
      advice: 'Vérifiez que le port est celui d’un serveur web, et que ses en-têtes de réponse sont courts.',
    },
    redirect: {
      what: 'Il a répondu par une redirection, qui n’est pas suivie.',
      advice: 'Enregistrez l’adresse finale, souvent celle avec ou sans barre oblique à la fin.',
    },
    status_denied: {
      what: 'Il a refusé la requête.',
      advice:
        'Le plus souvent, la signature ne correspondait pas\u00a0: vérifiez-la sur les octets bruts du corps, avec le secret de ce point de terminaison. N’exigez pas de connexion sur ce chemin.',
    },
    status_missing: {
      what: 'Il n’accepte pas de POST sur ce chemin.',
      advice: 'Comparez le chemin de l’URL avec la route de votre application.',
    },
    status_busy: {
      what: 'Il a signalé trop de requêtes.',
      advice:
        'Exemptez ce chemin de votre limite de débit. La prochaine tentative passera peut-être d’elle-même.',
    },
    status_server: {
      what: 'Votre serveur a échoué en traitant l’événement.',
      advice: 'Lisez la réponse ci-dessous et le journal de votre serveur à cette heure.',
    },
    status_other: {
      what: 'Il n’a pas répondu par un statut 2xx.',
      advice:
        'Répondez un statut de 200 à 299 une fois l’événement enregistré. La réponse ci-dessous en dit peut-être plus.',
    },
    aborted: {
      what: 'La tentative a été interrompue de notre côté.',
      advice: 'Rien à faire\u00a0: votre serveur a peut-être vu l’événement, et il est renvoyé.',
    },
    internal: {
      what: 'Un problème est survenu de notre côté.',
      advice: 'Rien à faire\u00a0: un nouvel essai suivra. Prévenez-nous si cela arrive souvent.',
    },
    unknown: { what: 'La tentative a échoué.', advice: 'La réponse ci-dessous en dit peut-être plus.' },
  },
};
