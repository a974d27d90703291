import type { Words } from '../en/index.ts';

export const firstRun: Words['firstRun'] = {
  title: 'Premiers pas',
  intro: 'Chacun est coché quand il a eu lieu, ici ou par l’API.',
  done: 'Fait\u00a0:',
  open: 'À faire\u00a0:',
  dismiss: 'Masquer jusqu’à ma prochaine connexion',
  endpoint: { title: 'Enregistrer un point de terminaison', go: 'Saisir son adresse' },
  event: { title: 'Envoyer un événement', go: 'Déclencher un événement de test' },
  signature: { title: 'Vérifier sa signature', go: 'Contrôler un point de terminaison' },
  payment: { title: 'Faire un paiement', go: 'Faire un paiement de test' },
};
