import type { Core } from '../context.ts';
import type { NewEvent } from '../ports/events.ts';
import type { JsonObject } from '../ports/interactions.ts';
import type { Owner } from '../ports/partners.ts';
import { newId } from '../random.ts';

/** An event before it has an id. */
export interface EventContent extends Owner {
  readonly type: string;
  /** Checked before. */
  readonly data: JsonObject;
  /** Milliseconds since the Unix epoch. */
  readonly createdAt: number;
}

/** The members of a delivery's body. */
export function eventBody(id: string, { type, createdAt, mode, data }: EventContent): JsonObject {
  return { id, type, createdAt: new Date(createdAt).toISOString(), mode, data };
}

/** Fixes the bytes of an event: they are the same on every attempt. */
export function newEvent({ random }: Pick<Core, 'random'>, content: EventContent): NewEvent {
  const { partner, mode, type, createdAt } = content;
  const id = newId('evt', random, createdAt);
  return {
    id,
    partner,
    mode,
    type,
    createdAt,
    body: JSON.stringify(eventBody(id, content)),
    deliveryId: newId('dl', random, createdAt),
  };
}
