import type { Core } from '../options/context.ts';
import type { NewEvent } from '../ports/events.ts';
import type { JsonObject } from '../ports/interactions.ts';
import { newId } from '../secrets/random.ts';

/** Content of an event that has no id yet. */
export interface EventContent extends Omit<NewEvent, 'id' | 'body' | 'deliveryId' | 'traceparent'> {
  /** Data of the event, which was validated before. */
  readonly data: JsonObject;
}

/** Creates an event with the final bytes of its body, which are the same on every attempt. */
export function newEvent(
  { random, telemetry }: Pick<Core, 'random' | 'telemetry'>,
  content: EventContent,
): NewEvent {
  const { data, ...event } = content;
  const { mode, type, createdAt } = event;
  const id = newId('evt', random, createdAt);
  const body = JSON.stringify({ id, type, createdAt: new Date(createdAt).toISOString(), mode, data });
  const traceparent = telemetry?.traceparent() ?? null;
  return { ...event, id, body, deliveryId: newId('dl', random, createdAt), traceparent };
}
