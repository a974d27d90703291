import type { NewEvent, Owner } from '@ostiary/core/storage';
import type { Connection } from './connection.ts';

/** A delivery to store. `eventNumber` is the row id of its event. */
export interface NewDelivery extends Owner {
  readonly id: string;
  readonly eventNumber: number;
  readonly endpointId: string;
  readonly now: number;
}

/**
 * Creates the functions that store events and deliveries inside a transaction, for connections of the storage
 * and of the host application.
 */
export function publicationsOn(connection: Connection) {
  const sql = {
    nextSequence: connection.prepare<[Owner], { last: number }>(`
      INSERT INTO event_sequences (partner, mode, last) VALUES (:partner, :mode, 1)
      ON CONFLICT (partner, mode) DO UPDATE SET last = last + 1
      RETURNING last
    `),

    insertEvent: connection.prepare<[NewEvent & { readonly sequence: number }]>(`
      INSERT INTO events (id, partner, mode, sequence, type, body, created_at, traceparent)
      VALUES (:id, :partner, :mode, :sequence, :type, :body, :createdAt, :traceparent)
    `),

    // Quotes inside an element are escaped, so that a quoted name matches whole elements only.
    matchingEndpoints: connection
      .prepare<[Owner & { readonly type: string }], string>(`
      SELECT id FROM webhook_endpoints
      WHERE partner = +:partner AND mode = +:mode AND enabled = 1
        AND (events = '["*"]' OR instr(events, json_quote(:type)) > 0)
        AND NOT EXISTS (SELECT 1 FROM partners WHERE slug = +:partner AND disabled_at IS NOT NULL)
      ORDER BY id
    `)
      .pluck(),

    insertDelivery: connection.prepare<[NewDelivery]>(`
      INSERT INTO deliveries (
        id, event_number, endpoint_id, partner, mode, status, created_at, due_at, ready_at
      )
      VALUES (:id, :eventNumber, :endpointId, :partner, :mode, 'pending', :now, :now, :now)
    `),

    queue: connection.prepare<[Pick<NewDelivery, 'endpointId' | 'now'>]>(`
      UPDATE endpoint_queues SET next_due = :now
      WHERE endpoint_id = :endpointId AND (next_due IS NULL OR next_due > :now)
    `),
  };

  /**
   * Returns the ids of the endpoints to which an event goes: enabled, of this partner and mode, and
   * subscribed to the event's type, in the order of the ids. Returns none for a disabled partner.
   */
  const matchingEndpoints = (request: Owner & { readonly type: string }): string[] =>
    sql.matchingEndpoints.all(request);

  /** Stores a delivery that is due now. */
  function deliver(delivery: NewDelivery): void {
    sql.insertDelivery.run(delivery);
    sql.queue.run({ endpointId: delivery.endpointId, now: delivery.now });
  }

  return {
    /** Stores events and their deliveries. */
    publish(events: readonly NewEvent[]): void {
      for (const event of events) {
        const { partner, mode, type, deliveryId, createdAt: now } = event;
        const sequence = sql.nextSequence.get({ partner, mode })?.last ?? 0;
        const eventNumber = Number(
          sql.insertEvent.run({ traceparent: null, ...event, sequence }).lastInsertRowid,
        );
        for (const [index, endpointId] of matchingEndpoints({ partner, mode, type }).entries()) {
          deliver({ id: `${deliveryId}_${index + 1}`, eventNumber, endpointId, partner, mode, now });
        }
      }
    },
    matchingEndpoints,
    deliver,
  };
}
