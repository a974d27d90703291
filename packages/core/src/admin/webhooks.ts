import { z } from 'zod';
import type { Act } from '../audit/acts.ts';
import type { Core } from '../options/context.ts';
import type { AttemptRecord, DeliveryRecord, DeliveryState, Redelivery } from '../ports/deliveries.ts';
import type { EventRecord } from '../ports/events.ts';
import type { StoredAnswer } from '../ports/idempotency.ts';
import type { JsonObject } from '../ports/interactions.ts';
import type { Owner } from '../ports/partners.ts';
import { newId } from '../secrets/random.ts';
import { countedAtMost, writePlace } from '../text/list-pages.ts';
import { deliveryState, failedAttempts } from '../webhooks/delivery-state.ts';
import { changeEndpoint } from '../webhooks/endpoints.ts';
import { type WebhookObstacle, webhookObstacles } from '../webhooks/obstacles.ts';
import { maxRecovered } from '../webhooks/redelivery.ts';
import { everyEvent } from '../webhooks/search.ts';
import { checked, type Shown, shown } from './checked.ts';
import {
  listPage,
  type PageRequest,
  pageSize,
  placeAfter,
  readTimedPage,
  type TimedRequest,
  type TwoWayPage,
} from './list-page.ts';
import { PartnerNameError } from './partners.ts';
import { triggerTestEvent } from './test-events.ts';
import { endpointView, type WebhookEndpoint, type WebhookLists, webhookLists } from './webhook-lists.ts';

/** Delivery of one event to one endpoint. Times are ISO 8601. */
export interface WebhookDelivery extends Shown<Omit<DeliveryRecord, 'partner' | 'mode' | 'attempts'>> {
  /** State of the delivery: `failing` if it is pending and an attempt has failed, otherwise its status. */
  readonly state: DeliveryState;
  /** Number of failed attempts of the delivery. Attempts that this service cut off do not count. */
  readonly failures: number;
  readonly attempts: readonly Shown<Omit<AttemptRecord, 'response'>>[];
}

/** A published event with its sequence number. Times are ISO 8601. */
export interface PublishedEvent extends Shown<Pick<EventRecord, 'id' | 'type' | 'sequence' | 'createdAt'>> {
  readonly data: JsonObject;
}

/** Thrown when an administrator names an endpoint or event that does not exist, or a disabled endpoint. */
export class WebhookError extends Error {
  override readonly name = 'WebhookError';
  readonly code: 'endpoint_not_found' | 'endpoint_disabled' | 'event_not_found';

  constructor(code: 'endpoint_not_found' | 'endpoint_disabled' | 'event_not_found', id: string) {
    const what = code === 'event_not_found' ? 'event' : 'webhook endpoint';
    super(code === 'endpoint_disabled' ? `the ${what} ${id} is disabled` : `there is no ${what} ${id}`);
    this.code = code;
  }
}

/** Lists and changes partners' webhook endpoints, events and deliveries, for operators. */
export interface WebhookAdministration extends WebhookLists {
  /** Names of all event types, including the host application's own. */
  readonly eventTypes: readonly string[];
  /** Maximum number of attempts of a delivery. */
  readonly maxAttempts: number;
  /**
   * Lists a partner's events in the order of their sequence numbers: those after a number, or the newest
   * ones. Returns at most `limit`, 1 to 500 and 100 by default.
   * @throws TypeError if an argument is invalid
   */
  events(
    owner: Owner,
    request?: { readonly after?: number; readonly limit?: number },
  ): Promise<readonly PublishedEvent[]>;
  list(owner: Owner): Promise<readonly WebhookEndpoint[]>;
  /**
   * Returns the reasons why webhooks of a partner do not arrive, the most important first. Empty if no reason
   * is known.
   * @throws PartnerNameError `partner_not_found`
   */
  obstacles(owner: Owner): Promise<readonly WebhookObstacle[]>;
  /**
   * Disables a webhook endpoint: cancels its pending deliveries. No new deliveries are made until the
   * endpoint is enabled.
   * @throws WebhookError `endpoint_not_found`
   */
  disable(owner: Owner, id: string): Promise<WebhookEndpoint>;
  /** Enables a disabled endpoint. @throws WebhookError `endpoint_not_found` */
  enable(owner: Owner, id: string): Promise<WebhookEndpoint>;
  /** Removes an endpoint and cancels its pending deliveries. @throws WebhookError `endpoint_not_found` */
  remove(owner: Owner, id: string): Promise<void>;
  /**
   * Lists webhook deliveries, newest first. Pass `next` as `after` to get the following page; it is `null` on
   * the last page.
   * @throws TypeError if an argument is invalid
   */
  deliveries(
    owner: Owner,
    page?: PageRequest & {
      readonly endpointId?: string;
      readonly eventId?: string;
      /**
       * State by which deliveries are listed: `pending` selects all pending deliveries, `failing` only those
       * of which an attempt has failed.
       */
      readonly status?: DeliveryState;
    },
  ): Promise<{ readonly deliveries: readonly WebhookDelivery[]; readonly next: string | null }>;
  /**
   * Lists deliveries by time, newest or oldest first.
   * @throws TypeError if an argument is invalid
   */
  sortedDeliveries(
    owner: Owner,
    request?: TimedRequest & {
      readonly endpointId?: string;
      readonly eventId?: string;
      /**
       * State by which deliveries are listed: `pending` selects all pending deliveries, `failing` only those
       * of which an attempt has failed.
       */
      readonly status?: DeliveryState;
    },
  ): Promise<TwoWayPage<WebhookDelivery>>;
  /** Counts the deliveries that `sortedDeliveries` lists. The count stops at 10,000, which means 10,000 or more. */
  countDeliveries(
    owner: Owner,
    search?: {
      readonly endpointId?: string;
      readonly eventId?: string;
      readonly status?: DeliveryState;
    },
  ): Promise<number>;
  /**
   * Publishes an event to the test endpoints of a partner. Without `data`, the event has the data of its
   * type's example.
   * @throws PartnerNameError `partner_not_found`
   * @throws TypeError if there is no such type, or the data does not fit it
   */
  trigger(partner: string, type: string, data?: unknown): Promise<PublishedEvent>;
  /**
   * Delivers an event again, to one endpoint or to all that match its type now. If a delivery of the event is
   * already pending for an endpoint, that delivery is returned.
   * @throws WebhookError for an unknown or disabled endpoint, or an unknown event
   */
  redeliver(
    owner: Owner,
    eventId: string,
    options?: { readonly endpointId?: string },
  ): Promise<readonly WebhookDelivery[]>;
  /**
   * Delivers again the events that were dropped for an endpoint since a given time, at most 1,000 in one
   * call. Leaves out events of which the endpoint has a later delivery that was not cancelled. Returns the
   * number of new deliveries.
   * @throws WebhookError for an unknown or disabled endpoint
   * @throws TypeError if `since` is not a valid date
   */
  recover(owner: Owner, endpointId: string, options: { readonly since: Date }): Promise<number>;
}

function deliveryOf({ attempts, partner: _, mode: __, ...delivery }: DeliveryRecord): WebhookDelivery {
  return {
    ...shown(delivery),
    state: deliveryState({ ...delivery, attempts }),
    failures: failedAttempts({ attempts }),
    attempts: attempts.map(({ response: ___, ...attempt }) => shown(attempt)),
  };
}

const eventOf = ({ id, type, sequence, createdAt, body }: EventRecord): PublishedEvent => ({
  ...shown({ id, type, sequence, createdAt }),
  data: JSON.parse(body).data,
});

const eventRequest = z.strictObject({ after: z.int().min(0).optional(), limit: pageSize.default(100) });

const refusals = {
  unknown_event: 'event_not_found',
  unknown_endpoint: 'endpoint_not_found',
  disabled_endpoint: 'endpoint_disabled',
} as const;

const answerOf = (body: unknown): StoredAnswer => ({ status: 200, body: JSON.stringify(body) });

/** Creates the functions that list deliveries of one partner and mode. */
function deliveryLists({
  storage: { deliveries },
}: Core): Pick<WebhookAdministration, 'deliveries' | 'sortedDeliveries' | 'countDeliveries'> {
  return {
    async deliveries(owner, { endpointId = null, eventId = null, status = null, ...request } = {}) {
      const after = placeAfter(request);
      const { page, next } = await listPage(request, {
        read: (limit) => deliveries.list({ ...owner, endpointId, eventId, status, after, limit }),
        shown: deliveryOf,
        placeOf: ({ createdAt, id }) => writePlace({ time: createdAt, id }),
      });
      return { deliveries: page, next };
    },

    sortedDeliveries: (owner, { endpointId = null, eventId = null, status = null, ...request } = {}) =>
      readTimedPage(request, {
        read: (page) => deliveries.list({ ...owner, endpointId, eventId, status, ...page }),
        shown: deliveryOf,
        placeOf: ({ createdAt, id }) => ({ time: createdAt, id }),
      }),

    countDeliveries: ({ partner, mode }, { endpointId = null, eventId = null, status = null } = {}) =>
      deliveries.count({ partner, mode, endpointId, eventId, status }, countedAtMost),
  };
}

export function webhookAdministration(core: Core, act: Act): WebhookAdministration {
  const { clock, random } = core;
  const { webhooks, deliveries, events } = core.storage;
  const newDeliveryId = () => newId('dl', random, clock.now());

  async function setEnabled(owner: Owner, id: string, enabled: boolean): Promise<WebhookEndpoint> {
    const audit = act(enabled ? 'endpoint.enable' : 'endpoint.disable', `endpoint:${id}`, { ...owner });
    const changed = await changeEndpoint(core, { ...owner, id }, { enabled }, clock.now(), audit);
    if (changed === null) throw new WebhookError('endpoint_not_found', id);
    return endpointView(changed);
  }

  /**
   * Returns the deliveries that a redelivery created, or the number of those that a recovery created, and
   * notifies the workers. @throws WebhookError for an unknown or disabled endpoint, or an unknown event
   */
  function queued(result: Redelivery, endpointId: string, eventId: string) {
    if (result.outcome === 'queued') {
      core.notifyWorkers('deliveries');
      return JSON.parse(result.answer.body);
    }
    // All other outcomes need an Idempotency-Key, which this call does not have.
    const code = refusals[result.outcome as keyof typeof refusals];
    throw new WebhookError(code, code === 'event_not_found' ? eventId : endpointId);
  }

  return {
    ...webhookLists(core),
    eventTypes: core.options.events.types,
    maxAttempts: core.options.webhooks.retryDelaysSeconds.length + 1,

    async events({ partner, mode }, request = {}) {
      const { after, limit } = checked(eventRequest, request);
      const owner = { partner, mode };
      if (after !== undefined) return (await events.list({ ...owner, after, limit })).events.map(eventOf);
      return (await events.latest({ ...owner, ...everyEvent, limit })).map(eventOf).reverse();
    },

    list: async (owner) => (await webhooks.list(owner)).map(endpointView),
    async obstacles({ partner: slug, mode }) {
      const partner = await core.storage.partners.find(slug);
      if (partner === null) throw new PartnerNameError('partner_not_found', slug);
      return webhookObstacles(core, partner, mode);
    },
    disable: (owner, id) => setEnabled(owner, id, false),
    enable: (owner, id) => setEnabled(owner, id, true),

    async remove(owner, id) {
      const audit = act('endpoint.remove', `endpoint:${id}`, { ...owner });
      if (!(await webhooks.remove(owner, id, clock.now(), audit)))
        throw new WebhookError('endpoint_not_found', id);
    },

    ...deliveryLists(core),

    trigger: async (partner, type, data) =>
      eventOf(await triggerTestEvent(core, act, { partner, type, data })),

    async redeliver(owner, eventId, { endpointId } = {}) {
      const result = await deliveries.redeliver({
        ...owner,
        eventId,
        endpointId: endpointId ?? null,
        deliveryId: newDeliveryId(),
        now: clock.now(),
        idempotency: null,
        answer: (made) => answerOf(made.map(deliveryOf)),
        audit: act('event.redeliver', `event:${eventId}`, { ...owner, endpointId: endpointId ?? null }),
      });
      return queued(result, endpointId ?? '', eventId);
    },

    async recover(owner, endpointId, { since }) {
      const from = since.getTime();
      if (!Number.isFinite(from)) throw new TypeError('since: has to be a date');
      const result = await deliveries.recover({
        ...owner,
        endpointId,
        since: from,
        deliveryId: newDeliveryId(),
        now: clock.now(),
        limit: maxRecovered,
        idempotency: null,
        answer: answerOf,
        audit: act('endpoint.recover', `endpoint:${endpointId}`, { ...owner, since: since.toISOString() }),
      });
      return queued(result, endpointId, '');
    },
  };
}
