import type { DeliveryStore } from '@ostiary/core/storage';
import type { Database } from './database.ts';
import { postgresDeliveryClaims } from './delivery-claims.ts';
import { postgresDeliveryLists } from './delivery-lists.ts';
import { postgresDeliveryResults } from './delivery-results.ts';
import { postgresRedeliveries } from './redeliveries.ts';

export function postgresDeliveries(database: Database): DeliveryStore {
  return {
    ...postgresDeliveryClaims(database),
    ...postgresDeliveryResults(database),
    ...postgresDeliveryLists(database),
    ...postgresRedeliveries(database),
  };
}
