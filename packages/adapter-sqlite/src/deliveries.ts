import type { DeliveryStore } from '@ostiary/core/storage';
import type { Database } from './database.ts';
import { sqliteDeliveryClaims } from './delivery-claims.ts';
import { sqliteDeliveryLists } from './delivery-lists.ts';
import { sqliteRedeliveries } from './redeliveries.ts';

export function sqliteDeliveries(database: Database): DeliveryStore {
  return {
    ...sqliteDeliveryClaims(database),
    ...sqliteDeliveryLists(database),
    ...sqliteRedeliveries(database),
  };
}
