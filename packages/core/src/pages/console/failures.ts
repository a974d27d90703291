import type { Language } from '../../scopes.ts';

/** Why an attempt failed, as far as there is different advice for it. */
export type FailureKind =
  | 'target_refused'
  | 'timeout'
  | 'connection_refused'
  | 'connection_failed'
  | 'connection_reset'
  | 'certificate'
  | 'tls'
  | 'protocol'
  | 'redirect'
  | 'status_denied'
  | 'status_missing'
  | 'status_busy'
  | 'status_server'
  | 'status_other'
  | 'aborted'
  | 'internal'
  | 'unknown';

/** What happened, and what to do about it. */
export interface Failure {
  readonly what: string;
  readonly advice: string;
}

/** Every failure in plain words, in every language. */
export const failures: { readonly [L in Language]: { readonly [Kind in FailureKind]: Failure } } = {
  en: {
    target_refused: {
      what: 'The address is not allowed, so nothing was sent.',
      advice:
        'The host name must resolve, and to public addresses only. Check its DNS records; in development, use a tunnel with a public https address.',
    },
    timeout: {
      what: 'No answer within 10 seconds.',
      advice:
        'Answer 2xx as soon as the event is stored, and do the work afterwards. If nothing reaches your server at all, look at its firewall.',
    },
    connection_refused: {
      what: 'Nothing listens at this address.',
      advice: 'Start the server, and compare its port with the one in the URL.',
    },
    connection_failed: {
      what: 'There is no way to this address.',
      advice: 'Check that the DNS records of the host name lead to a server that is online.',
    },
    connection_reset: {
      what: 'The connection was closed before an answer came.',
      advice: 'Look for a crash in your server’s log, and for a proxy in front of it that gives up early.',
    },
    certificate: {
      what: 'The TLS certificate cannot be trusted.',
      advice:
        'Serve a certificate of a public authority that is in force, covers this host name and comes with its intermediate certificates.',
    },
    tls: {
      what: 'No secure connection came about.',
      advice: 'Check that this port speaks TLS 1.2 or later: plain http does not work here.',
    },
    protocol: {
      what: 'The answer was not proper HTTP/1.1.',
      advice: 'Check that the port belongs to a web server, and that its response headers are small.',
    },
    redirect: {
      what: 'It answered with a redirect, which is not followed.',
      advice: 'Register the final address, often the one with or without a slash at the end.',
    },
    status_denied: {
      what: 'It refused the request.',
      advice:
        'Most often the signature did not match: verify it over the raw bytes of the body, with the secret of this endpoint. Do not ask for a login on this path.',
    },
    status_missing: {
      what: 'It does not take a POST at this path.',
      advice: 'Compare the path in the URL with the route of your application.',
    },
    status_busy: {
      what: 'It said that there were too many requests.',
      advice: 'Exempt this path from your rate limit. The next attempt may pass by itself.',
    },
    status_server: {
      what: 'Your server failed while it handled the event.',
      advice: 'Look at the answer below and into your server’s log for this time.',
    },
    status_other: {
      what: 'It did not answer with a 2xx status.',
      advice: 'Answer any status from 200 to 299 once the event is stored. The answer below may say more.',
    },
    aborted: {
      what: 'The attempt was broken off on our side.',
      advice: 'Nothing for you to do: your server may have seen the event, and it is sent again.',
    },
    internal: {
      what: 'Something went wrong on our side.',
      advice: 'Nothing for you to do: it is tried again. Tell us if it happens often.',
    },
    unknown: { what: 'The attempt failed.', advice: 'The answer below may say more.' },
  },
  fr: {
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
