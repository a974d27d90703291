import type { Core } from '../options/context.ts';
import type { NewEvent } from '../ports/events.ts';
import type { JsonObject } from '../ports/interactions.ts';
import { newId } from '../secrets/random.ts';

/** An event before it has an id. */
export interface EventContent extends Omit<NewEvent, 'id' | 'body' | 'deliveryId'> {
  /** Checked before. */
  readonly data: JsonObject;
}

/** Fixes the bytes of an event: they are the same on every attempt. */
export function newEvent({ random }: Pick<Core, 'random'>, content: EventContent): NewEvent {
  const { data, ...event } = content;
  const { mode, type, createdAt } = event;
  const id = newId('evt', random, createdAt);
  const body = JSON.stringify({ id, type, createdAt: new Date(createdAt).toISOString(), mode, data });
  return { ...event, id, body, deliveryId: newId('dl', random, createdAt) };
}
