import type { DeliveryStore, Owner } from '@ostiary/core/storage';
import { auditRowOf, postgresAudits } from './audit.ts';
import type { Database } from './database.ts';
import { postgresStoredDeliveries } from './delivery-lists.ts';
import { postgresEventOwners } from './event-owners.ts';
import { postgresClaims } from './idempotency.ts';
import { insertFresh, postgresPublications } from './publications.ts';
import { statement } from './statement.ts';
import { postgresRefusals } from './webhooks.ts';

type Redeliveries = Pick<DeliveryStore, 'redeliver' | 'recover'>;
type Outcome<Call extends keyof Redeliveries> = Awaited<ReturnType<Redeliveries[Call]>>;
type EventRow = { readonly eventNumber: number; readonly type: string };
interface Pairs {
  readonly eventNumber: number;
  readonly endpointIds: readonly string[];
}

function statementsIn(schema: string) {
  return {
    // Locks the event against the purge.
    findEvent: statement<Owner & { eventId: string }, EventRow>(`
      SELECT number AS "eventNumber", type FROM ${schema}.events
      WHERE id = :eventId AND partner = :partner AND mode = :mode
      FOR KEY SHARE
    `),

    // Locks the deliveries, so that the result is exact: results of attempts must wait.
    pending: statement<Pairs, { readonly id: string; readonly endpointId: string }>(`
      SELECT id, endpoint_id AS "endpointId" FROM ${schema}.deliveries
      WHERE event_number = :eventNumber AND endpoint_id = ANY (:endpointIds) AND status = 'pending'
      ORDER BY number
      FOR NO KEY UPDATE
    `),

    // Leaves out a dropped delivery if its event has a later delivery to the endpoint, unless that one was
    // cancelled. The events are locked against the purge.
    recover: statement<
      Owner & { endpointId: string; since: number; limit: number; deliveryId: string; now: number }
    >(`
      WITH dropped AS (
        SELECT event_number, row_number() OVER (ORDER BY dropped_at, number) AS place FROM (
          SELECT event_number, dropped_at, deliveries.number
          FROM ${schema}.deliveries JOIN ${schema}.events ON events.number = event_number
          WHERE endpoint_id = :endpointId AND dropped_at >= :since
            AND NOT EXISTS (
              SELECT FROM ${schema}.deliveries AS later
              WHERE later.event_number = deliveries.event_number AND later.endpoint_id = deliveries.endpoint_id
                AND later.number > deliveries.number AND later.status <> 'cancelled'
            )
          ORDER BY dropped_at, deliveries.number LIMIT :limit
          FOR KEY SHARE OF events
        ) AS longest
      ),
      fresh AS (
        SELECT
          :deliveryId::text || '_' || place AS id, event_number, :endpointId::text AS endpoint_id,
          :partner::text AS partner, :mode::text AS mode, :now::bigint AS created_at, place
        FROM dropped
      ),
      ${insertFresh(schema)}
    `),
  };
}

/** Creates the operations that deliver events again. */
export function postgresRedeliveries(database: Database): Redeliveries {
  const audits = postgresAudits(database);
  const once = postgresClaims(database);
  const owners = postgresEventOwners(database);
  const publications = postgresPublications(database);
  const storedDeliveries = postgresStoredDeliveries(database);
  const refusalOf = postgresRefusals(database);
  const sql = statementsIn(database.schema);

  return {
    async redeliver({ partner, mode, eventId, endpointId, deliveryId, now, idempotency, answer, audit }) {
      const act = auditRowOf(audit);
      return once<Outcome<'redeliver'>>(idempotency, now, async (connection) => {
        await owners.lock(connection, { partner, mode });
        const event = await sql.findEvent.get(connection, { partner, mode, eventId });
        if (event === undefined) return { outcome: 'unknown_event' };
        const { eventNumber, type } = event;
        if (endpointId !== null) {
          const refusal = await refusalOf(connection, { partner, mode, id: endpointId });
          if (refusal !== null) return refusal;
        }

        const endpointIds =
          endpointId === null
            ? await publications.matchingEndpoints(connection, { partner, mode, type })
            : [endpointId];
        const pending = await sql.pending.all(connection, { eventNumber, endpointIds });
        const taken = new Set(pending.map((delivery) => delivery.endpointId));
        const free = endpointIds.filter((id) => !taken.has(id));
        const fresh = free.map((endpointId, index) => ({
          id: `${deliveryId}_${index + 1}`,
          eventNumber,
          endpointId,
        }));
        await publications.deliver(connection, fresh, { partner, mode, now });
        const shown = await storedDeliveries(
          connection,
          [...pending, ...fresh].map(({ id }) => id),
        );
        const given = answer(shown);
        await audits.store(connection, act);
        return { outcome: 'queued', answer: given };
      });
    },

    async recover({ partner, mode, endpointId, since, deliveryId, now, limit, idempotency, answer, audit }) {
      const act = auditRowOf(audit);
      return once<Outcome<'recover'>>(idempotency, now, async (connection) => {
        await owners.lock(connection, { partner, mode });
        const refusal = await refusalOf(connection, { partner, mode, id: endpointId });
        if (refusal !== null) return refusal;

        const request = { partner, mode, endpointId, since, deliveryId, now, limit };
        const given = answer(await sql.recover.run(connection, request));
        await audits.store(connection, act);
        return { outcome: 'queued', answer: given };
      });
    },
  };
}
