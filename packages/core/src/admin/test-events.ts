import type { Act } from '../audit/acts.ts';
import { EventDataError } from '../events.ts';
import type { Core } from '../options/context.ts';
import type { EventRecord } from '../ports/events.ts';
import { newEvent } from '../webhooks/outgoing.ts';
import { PartnerNameError } from './partners.ts';

/** Returns the data of a test event: the given data or, if none is given, the example of the event type. */
function dataOf({ options: { events } }: Core, type: string, data: unknown) {
  if (!events.types.includes(type))
    throw new TypeError(`type: there is no ${type}; there are ${events.types.join(', ')}`);
  if (data === undefined) return events.example(type);
  try {
    return events.check(type, data);
  } catch (error) {
    if (!(error instanceof EventDataError)) throw error;
    throw new TypeError(`data: ${error.message}`, { cause: error });
  }
}

/**
 * Publishes an event to the test endpoints of a partner. Without `data`, it has the data of the example of its type.
 * @throws PartnerNameError `partner_not_found`
 * @throws TypeError if there is no such type, or the data does not fit it
 */
export async function triggerTestEvent(
  core: Core,
  act: Act,
  { partner, type, data }: { readonly partner: string; readonly type: string; readonly data: unknown },
): Promise<EventRecord> {
  const { partners, events } = core.storage;
  if ((await partners.find(partner)) === null) throw new PartnerNameError('partner_not_found', partner);
  const now = core.clock.now();
  const event = newEvent(core, {
    ...{ partner, mode: 'test', type, createdAt: now },
    data: dataOf(core, type, data),
  });
  const audit = act('event.trigger', `event:${event.id}`, { partner, type });
  await events.publish([event], { idempotency: null, now, audit });
  core.notifyWorkers('deliveries');
  const published = await events.find({ partner, mode: 'test' }, event.id);
  if (published === null) throw new Error('the published event is not stored any more');
  return published;
}
