import type { Words } from '../en/index.ts';

/** By the `error` of an attempt; `status` has several. */
export const failures: Words['failures'] = {
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
};
