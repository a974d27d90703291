import { z } from 'zod';
import { PartnerError } from '../../errors.ts';
import type { Core } from '../../options/context.ts';
import type { AttemptRecord, DeliveryRecord } from '../../ports/deliveries.ts';
import type { JsonObject } from '../../ports/interactions.ts';
import type { Owner } from '../../ports/partners.ts';
import { givenTime } from '../../schemas/fields.ts';
import { countedAtMost } from '../../text/list-pages.ts';
import { iso } from '../../time/clock.ts';
import type { Webhooks } from '../../webhooks/create-webhooks.ts';
import { deliveryStates } from '../../webhooks/delivery-state.ts';
import type { AttemptRequest } from '../../webhooks/past-requests.ts';
import { searchEvents } from '../../webhooks/search.ts';
import { attemptView, deliveryView, eventView } from '../../webhooks/views.ts';
import { inBothDirections } from '../paging.ts';
import { operation, type PartnerOperation } from '../request.ts';
import { bothDirections, cursor, pageSize } from '../schemas.ts';
import { deliveriesQuery, endpointId, endpointPath, eventPath } from '../webhook-schemas.ts';

const defaultPageSize = 20;

/** Maximum number of deliveries that the console's list of events shows for each event. */
const deliveriesPerEvent = 20;

type AttemptRequests = ReadonlyMap<AttemptRecord, AttemptRequest>;

/** Adds the HTTP request of each attempt to a delivery; `null` for attempts without an entry in `requests`. */
function withRequests(delivery: DeliveryRecord, requests: AttemptRequests): JsonObject {
  const attempts = delivery.attempts.map((attempt) => ({
    ...attemptView(attempt),
    request: requests.get(attempt) ?? null,
  }));
  return { ...deliveryView(delivery), attempts };
}

/**
 * Rebuilds the HTTP request of each attempt to deliver one event. Leaves out attempts at removed endpoints,
 * and requests that cannot be rebuilt.
 */
async function requestsOf(
  { storage: { events, webhooks } }: Core,
  { requestOf }: Webhooks,
  owner: Owner,
  eventId: string,
  found: readonly DeliveryRecord[],
): Promise<AttemptRequests> {
  const requests = new Map<AttemptRecord, AttemptRequest>();
  const event = await events.find(owner, eventId);
  const endpoints = new Map((await webhooks.list(owner)).map((endpoint) => [endpoint.id, endpoint]));
  for (const { endpointId, attempts } of found) {
    const endpoint = endpoints.get(endpointId);
    if (event === null || endpoint === undefined) continue;
    for (const attempt of attempts) {
      const request = await requestOf(event, endpoint, attempt);
      if (request !== null) requests.set(attempt, request);
    }
  }
  return requests;
}

function eventDeliveries(core: Core, webhooks: Webhooks): PartnerOperation {
  const { deliveries } = core.storage;
  return operation({
    operation: 'listEventDeliveries',
    portal: 'view',
    scope: 'webhooks',
    pathSchema: eventPath,
    query: z.strictObject({ endpointId: endpointId.optional(), limit: pageSize, cursor, ...bothDirections }),
    async handle({ path, query: { endpointId = null, ...query }, partner, mode }) {
      const owner = { partner, mode };
      const filters = { ...owner, status: null, endpointId, eventId: path.id };
      let requests: AttemptRequests = new Map();
      const body = await inBothDirections({
        ...query,
        async read(page) {
          const found = await deliveries.list({ ...filters, ...page });
          // Only in test mode, because signatures of live events are meant for their endpoints alone.
          if (mode === 'test') requests = await requestsOf(core, webhooks, owner, path.id, found);
          return found;
        },
        count: (most) => deliveries.count(filters, most),
        view: (delivery) => withRequests(delivery, requests),
      });
      return { status: 200, body };
    },
  });
}

const deliveryPath = z.object({ id: z.string().regex(/^dl_[0-9a-f]{32}(?:_[0-9]{1,9})?$/) });

/**
 * Returns the response that an endpoint gave to one attempt. The console's lists of deliveries show long
 * responses on a page of their own, because fifty of them can be 800 KiB.
 */
function attemptAnswer({ storage }: Core): PartnerOperation {
  return operation({
    operation: 'getAttemptAnswer',
    portal: 'view',
    scope: 'webhooks',
    pathSchema: deliveryPath,
    query: z.strictObject({
      attempt: z
        .string()
        .regex(/^[1-9][0-9]{0,8}$/)
        .transform(Number),
    }),
    async handle({ path, query, partner, mode }) {
      const delivery = await storage.deliveries.find({ partner, mode }, path.id);
      const attempt = delivery?.attempts.find(({ number }) => number === query.attempt);
      const response = attempt?.response ?? null;
      if (delivery === null || response === null)
        throw new PartnerError('not_found', { description: 'There is no such answer.' });
      return { status: 200, body: { eventId: delivery.eventId, response } };
    },
  });
}

function oneDelivery({ storage }: Core): PartnerOperation {
  return operation({
    operation: 'getDelivery',
    portal: 'view',
    scope: 'webhooks',
    pathSchema: deliveryPath,
    async handle({ path, partner, mode }) {
      const delivery = await storage.deliveries.find({ partner, mode }, path.id);
      if (delivery === null)
        throw new PartnerError('not_found', { description: 'There is no such delivery.' });
      return { status: 200, body: deliveryView(delivery) };
    },
  });
}

const hourMs = 3_600_000;

/** Number of hours in an endpoint's chart of deliveries, including the current hour. */
const historyHours = 24;

/** Lists deliveries to an endpoint, in the form of the public API, and counts all that match the filter, up to 10,000. */
function endpointDeliveries({ storage: { deliveries } }: Core, { endpoints }: Webhooks): PartnerOperation {
  return operation({
    operation: 'listEndpointDeliveries',
    portal: 'view',
    scope: 'webhooks',
    pathSchema: endpointPath,
    query: deliveriesQuery.extend(bothDirections),
    async handle({ path, query: { status = null, ...page }, partner, mode }) {
      const owner = { partner, mode };
      await endpoints.find(owner, path.id);
      const filters = { ...owner, status, endpointId: path.id, eventId: null };
      const body = await inBothDirections({
        ...page,
        read: (page) => deliveries.list({ ...filters, ...page }),
        count: (most) => deliveries.count(filters, most),
        view: deliveryView,
      });
      return { status: 200, body };
    },
  });
}

function endpointHistory({ storage, clock }: Core): PartnerOperation {
  return operation({
    operation: 'getWebhookHistory',
    portal: 'view',
    scope: 'webhooks',
    pathSchema: endpointPath,
    async handle({ path, partner, mode }) {
      const owner = { partner, mode };
      const since = (Math.floor(clock.now() / hourMs) - historyHours + 1) * hourMs;
      const steps = { endpointId: path.id, since, stepMs: hourMs, limit: countedAtMost };
      const counts = await storage.deliveries.countBySteps({ ...owner, ...steps });
      const hours = Array.from({ length: historyHours }, (_, hour) => ({
        from: iso(since + hour * hourMs),
        ...{ pending: 0, failing: 0, delivered: 0, dropped: 0, cancelled: 0 },
        ...Object.fromEntries(
          counts.filter(({ step }) => step === hour).map(({ state, count }) => [state, count]),
        ),
      }));
      const isCut = counts.reduce((sum, { count }) => sum + count, 0) === countedAtMost;
      return { status: 200, body: { hours, isCut } };
    },
  });
}

/** Returns the sequence numbers of the oldest and the newest stored event; `null` if no event is stored. */
async function rangeOf(
  { storage: { events } }: Core,
  owner: Owner,
): Promise<{ readonly oldest: number; readonly newest: number } | null> {
  const { oldestSequence, newestSequence } = await events.list({ ...owner, after: 0, limit: 1 });
  return oldestSequence === null ? null : { oldest: oldestSequence, newest: newestSequence };
}

/**
 * Console operations for events and deliveries, in addition to the partner API. The API lists events in
 * sequence for programs; the console lists the newest first, for people.
 */
export function historyOperations(core: Core, webhooks: Webhooks): PartnerOperation[] {
  const { events, deliveries } = core.storage;

  return [
    operation({
      operation: 'latestEvents',
      portal: 'view',
      scope: 'webhooks',
      query: z.strictObject({
        before: z
          .string()
          .regex(/^[1-9][0-9]{0,14}$/)
          .transform(Number)
          .optional(),
        type: z.string().max(64).optional(),
        status: z.enum([...deliveryStates, 'none']).optional(),
        endpointId: endpointId.optional(),
        until: givenTime('Events that happened then or before.', '2026-01-01T00:00:00.000Z').optional(),
        limit: pageSize,
      }),
      async handle({ query, partner, mode }) {
        const owner = { partner, mode };
        const { before = null, type = null, status = null, limit = defaultPageSize } = query;
        const { endpointId = null, until: moment } = query;
        const until = moment === undefined ? null : Date.parse(moment);
        const filter = { ...owner, before, type, until, status, endpointId };
        const isNarrowed = (type ?? status ?? endpointId ?? until) !== null;
        const [{ events: found, hasMore, nextBefore }, range] = await Promise.all([
          searchEvents(events, filter, limit),
          isNarrowed ? null : rangeOf(core, owner),
        ]);
        const eventIds = found.map(({ id }) => id);
        const latest = await deliveries.latestStates({ ...owner, eventIds, limit: deliveriesPerEvent + 1 });
        const data = found.map((event) => {
          const states = latest.get(event.id) ?? [];
          return {
            ...eventView(event),
            deliveries: states.slice(0, deliveriesPerEvent),
            hasMoreDeliveries: states.length > deliveriesPerEvent,
          };
        });
        return { status: 200, body: { data, hasMore, nextBefore, range } };
      },
    }),

    operation({
      operation: 'getEvent',
      portal: 'view',
      scope: 'webhooks',
      pathSchema: eventPath,
      async handle({ path, partner, mode }) {
        const event = await events.find({ partner, mode }, path.id);
        if (event === null) throw new PartnerError('not_found', { description: 'There is no such event.' });
        return { status: 200, body: eventView(event) };
      },
    }),

    eventDeliveries(core, webhooks),
    oneDelivery(core),
    attemptAnswer(core),
    endpointDeliveries(core, webhooks),
    endpointHistory(core),
  ];
}
