import type { Words } from '../en/index.ts';

export const requests: Words['requests'] = {
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
};
