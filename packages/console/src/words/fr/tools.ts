import { html } from '@ostiary/core/console';
import type { Words } from '../en/index.ts';

export const tools: Words['tools'] = {
  title: 'Outils de test',
  missing: (scopes) =>
    html`Cet outil demande une clé qui porte le scope ${scopes}, et la vôtre ne l’a pas. Demandez une clé de test qui le porte, puis connectez-vous avec elle.`,
  call: 'La même chose par un appel à l’API',
  user: 'Utilisateur de test',
  refused: 'Rien n’a été fait. L’API a répondu\u00a0:',
  passport: {
    title: 'Passeport',
    intro: 'Ce qu’un utilisateur vous montre, et que vous faites vérifier. Il vit 5 minutes.',
    state: 'État',
    valid: 'Valable',
    expired: 'Déjà périmé',
    mint: 'Émettre un passeport',
    token: 'Jeton du passeport',
    once: (time) =>
      html`Il n’est affiché que cette fois, et finit ${time}. Envoyez-le comme <code>token</code> à <code>POST /v1/partner/verify</code>.`,
    onceExpired: html`Il n’est affiché que cette fois. Envoyez-le comme <code>token</code> à <code>POST /v1/partner/verify</code>, qui répond <code>token_expired</code>.`,
  },
  payment: {
    title: 'Paiement',
    intro: 'Un transfert vers un utilisateur de test. Aucun argent ne bouge.',
    outcome: 'Issue',
    outcomes: {
      completed: 'Effectué (montant en ,00)',
      failed: 'Échoué (montant en ,01)',
      pending: 'Reste en attente (montant en ,02)',
    },
    amount: 'Montant, sans les centimes',
    amountHint: 'L’issue ajoute les centimes\u00a0: ils décident de ce que devient un paiement de test.',
    amountWrong:
      'Écrivez des chiffres seuls, tels que 125, et non zéro si l’issue est «\u00a0Effectué\u00a0».',
    currency: 'Devise',
    reference: 'Référence (facultative)',
    referenceHint: 'Votre propre nom pour ce paiement. Il appartient à un seul paiement pour toujours.',
    pay: 'Faire le paiement',
    one: 'Paiement de test',
    facts: 'Détails',
    status: 'État du paiement',
    states: { pending: 'En attente', completed: 'Effectué', failed: 'Échoué' },
    total: 'Montant',
    recipient: 'Bénéficiaire',
    time: 'Lancé à',
    failure: 'Raison',
    id: 'Identifiant du transfert',
    event: 'Événement',
    noEventYet: 'Un événement annonce la fin d’un paiement. Celui-ci est en attente.',
    noEvent: 'Son événement n’est pas parmi les plus récents. Cherchez-le dans la liste des événements.',
    another: 'Faire un autre paiement',
  },
  kyc: {
    title: 'Vérification d’identité',
    intro:
      'Changez l’état de la vérification d’identité d’un utilisateur de test. Vos clés de test le voient dans les recherches et les vérifications, et vos points de terminaison de test reçoivent l’événement kyc.updated. Après 7 jours, tout est comme au début.',
    status: 'Nouvel état',
    states: { approved: 'Approuvée', pending: 'En cours', rejected: 'Rejetée' },
    now: 'Maintenant',
    tier: (tier) => html`niveau ${tier}`,
    changed: 'modifié par vous',
    change: 'Modifier',
    reset: 'Rétablir tous les utilisateurs',
  },
  signature: {
    title: 'Contrôle de la signature',
    intro:
      'Envoie à un point de terminaison deux événements de test à la fois\u00a0: l’un signé avec son secret, l’autre avec une signature fausse. S’il est juste, il accepte le premier par 2xx et refuse le second par 4xx. Aucun n’apparaît dans la liste, et aucun n’est renvoyé.',
    endpoint: 'Point de terminaison',
    none: 'Il n’y a pas encore de point de terminaison activé.',
    check: 'Contrôler',
    verdicts: {
      right:
        'Ce point de terminaison vérifie les signatures\u00a0: il a accepté le bon événement et refusé le faux.',
      takes_forged:
        'Ce point de terminaison a accepté le faux événement. Quiconque connaît son adresse pourrait lui envoyer des événements\u00a0: vérifiez la signature, et refusez par 400 ce qui ne correspond pas.',
      fails_at_forged:
        'Ce point de terminaison a accepté le bon événement et non le faux, mais il ne l’a pas refusé par 4xx. Répondez 400 quand une signature ne correspond pas.',
      refuses_genuine:
        'Ce point de terminaison n’a pas accepté l’événement signé correctement. Comparez le secret, et vérifiez sur les octets bruts du corps.',
      no_answer:
        'Ce point de terminaison n’a pas répondu à l’événement signé correctement\u00a0: on ne peut rien en dire.',
    },
    genuine: 'Signé correctement',
    forged: 'Signature fausse',
    answer: (name) => `Réponse à\u00a0: ${name}`,
  },
};
