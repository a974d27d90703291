import type { DeliveryStore } from '@ostiary/core/storage';
import { claimDeliveries, finishDeliveries } from './delivery-claims.ts';
import { listDeliveries } from './delivery-lists.ts';
import { recover, redeliver } from './redeliveries.ts';
import type { Step } from './step.ts';

export function memoryDeliveries(step: Step): DeliveryStore {
  return {
    claim: (request) => step((tables) => claimDeliveries(tables, request)),
    finish: (results) => step((tables) => finishDeliveries(tables, results)),
    list: (request) => step((tables) => listDeliveries(tables, request)),
    redeliver: (request) => step((tables) => redeliver(tables, request)),
    recover: (request) => step((tables) => recover(tables, request)),
  };
}
