import type { DeliveryRecord, DeliveryStore, Owner, Redelivery } from '@ostiary/core/storage';
import { auditRowOf, sqliteAudits } from './audit.ts';
import type { Connection } from './connection.ts';
import type { Database } from './database.ts';
import { storedDeliveriesOn } from './delivery-lists.ts';
import { sqliteClaims } from './idempotency.ts';
import { publicationsOn } from './publications.ts';
import { refusalOn } from './webhooks.ts';

type EventRow = { readonly eventNumber: number; readonly type: string };

function statementsOn(connection: Connection) {
  return {
    findEvent: connection.prepare<[Owner & { eventId: string }], EventRow>(`
      SELECT number AS eventNumber, type FROM events
      WHERE id = :eventId AND partner = :partner AND mode = :mode
    `),

    // Leaves out a dropped delivery if its event has a later delivery to the endpoint, unless that one was
    // cancelled.
    dropped: connection.prepare<
      [{ endpointId: string; since: number; limit: number }],
      { eventNumber: number }
    >(`
      SELECT event_number AS eventNumber FROM deliveries
      WHERE endpoint_id = :endpointId AND status = 'dropped' AND ended_at >= :since
        AND NOT EXISTS (
          SELECT 1 FROM deliveries AS later
          WHERE later.event_number = deliveries.event_number AND later.endpoint_id = deliveries.endpoint_id
            AND later.number > deliveries.number AND later.status <> 'cancelled'
        )
      ORDER BY ended_at, number LIMIT :limit
    `),
  };
}

/** Creates the operations that deliver events again. */
export function sqliteRedeliveries(database: Database): Pick<DeliveryStore, 'redeliver' | 'recover'> {
  const claims = sqliteClaims(database);
  const publications = database.prepare(publicationsOn);
  const deliveries = database.prepare(storedDeliveriesOn);
  const refusalOf = database.prepare(refusalOn);
  const audits = sqliteAudits(database);
  const sql = database.prepare(statementsOn);

  return {
    async redeliver({ partner, mode, eventId, endpointId, deliveryId, now, idempotency, answer, audit }) {
      const act = auditRowOf(audit);
      return claims.once<Redelivery>(idempotency, now, () => {
        const event = sql().findEvent.get({ partner, mode, eventId });
        if (event === undefined) return { outcome: 'unknown_event' };
        const { eventNumber, type } = event;
        if (endpointId !== null) {
          const refusal = refusalOf()({ partner, mode, id: endpointId });
          if (refusal !== null) return refusal;
        }

        const endpointIds =
          endpointId === null ? publications().matchingEndpoints({ partner, mode, type }) : [endpointId];
        const shown: DeliveryRecord[] = [];
        let added = 0;
        for (const each of endpointIds) {
          const pair = { eventNumber, endpointId: each };
          if (deliveries().last(pair)?.status !== 'pending') {
            added += 1;
            publications().deliver({ ...pair, id: `${deliveryId}_${added}`, partner, mode, now });
          }
          const last = deliveries().last(pair);
          if (last !== null) shown.push(last);
        }
        const given = answer(shown);
        audits.store(act);
        return { outcome: 'queued', answer: given };
      });
    },

    async recover({ partner, mode, endpointId, since, deliveryId, now, limit, idempotency, answer, audit }) {
      const act = auditRowOf(audit);
      return claims.once<Exclude<Redelivery, { readonly outcome: 'unknown_event' }>>(idempotency, now, () => {
        const refusal = refusalOf()({ partner, mode, id: endpointId });
        if (refusal !== null) return refusal;

        const dropped = sql().dropped.all({ endpointId, since, limit });
        for (const [index, { eventNumber }] of dropped.entries()) {
          const id = `${deliveryId}_${index + 1}`;
          publications().deliver({ id, eventNumber, endpointId, partner, mode, now });
        }
        const given = answer(dropped.length);
        audits.store(act);
        return { outcome: 'queued', answer: given };
      });
    },
  };
}
