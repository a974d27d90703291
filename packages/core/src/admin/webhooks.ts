import type { Core } from '../context.ts';
import { writePlace } from '../paging.ts';
import type { DeliveryRecord, DeliveryStatus, Redelivery } from '../ports/deliveries.ts';
import type { Owner } from '../ports/owner.ts';
import type { WebhookEndpointRecord } from '../ports/webhooks.ts';
import { keptSecret } from '../webhook-secrets.ts';
import { newDeliveryId } from '../webhooks/outgoing.ts';
import { maxRecovered } from '../webhooks/redelivery.ts';
import type { Act } from './audit.ts';
import { shown } from './checked.ts';
import { listPage, type PageRequest, placeAfter } from './paging.ts';

/** A partner's webhook endpoint as administrators see it: everything but its secret. Times are ISO 8601. */
export interface WebhookEndpoint extends Owner {
  readonly id: string;
  readonly url: string;
  readonly events: readonly string[];
  readonly enabled: boolean;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** One event on its way to one endpoint. Times are ISO 8601. */
export interface WebhookDelivery {
  readonly id: string;
  readonly eventId: string;
  readonly eventType: string;
  readonly endpointId: string;
  readonly status: DeliveryStatus;
  readonly createdAt: string;
  readonly nextAttemptAt: string | null;
  readonly attempts: readonly {
    readonly number: number;
    readonly at: string;
    readonly durationMs: number;
    readonly httpStatus: number | null;
    readonly error: string | null;
  }[];
}

/** Thrown when an administrator names an endpoint or an event that does not exist, or a disabled endpoint. */
export class WebhookError extends Error {
  override readonly name = 'WebhookError';
  readonly code: 'endpoint_not_found' | 'endpoint_disabled' | 'event_not_found';

  constructor(code: 'endpoint_not_found' | 'endpoint_disabled' | 'event_not_found', id: string) {
    const what = code === 'event_not_found' ? 'event' : 'webhook endpoint';
    super(code === 'endpoint_disabled' ? `the ${what} ${id} is disabled` : `there is no ${what} ${id}`);
    this.code = code;
  }
}

/** Endpoints and deliveries of partners, for operators. */
export interface WebhookAdministration {
  list(owner: Owner): Promise<readonly WebhookEndpoint[]>;
  /**
   * Cancels what is still to be delivered there, and delivers nothing more until it is enabled.
   * @throws WebhookError `endpoint_not_found`
   */
  disable(owner: Owner, id: string): Promise<WebhookEndpoint>;
  /** @throws WebhookError `endpoint_not_found` */
  enable(owner: Owner, id: string): Promise<WebhookEndpoint>;
  /** @throws WebhookError `endpoint_not_found` */
  remove(owner: Owner, id: string): Promise<void>;
  /**
   * Deliveries, newest first. `next` is what to pass as `after` for the following page, or `null` after the last
   * one.
   * @throws TypeError when an argument is wrong
   */
  deliveries(
    owner: Owner,
    page?: PageRequest & {
      readonly endpointId?: string;
      readonly eventId?: string;
      readonly status?: DeliveryStatus;
    },
  ): Promise<{ readonly deliveries: readonly WebhookDelivery[]; readonly next: string | null }>;
  /**
   * Delivers an event again, to one endpoint, or to those that match its type now. Where a delivery of it is
   * pending already, that one is answered.
   * @throws WebhookError
   */
  redeliver(
    owner: Owner,
    eventId: string,
    options?: { readonly endpointId?: string },
  ): Promise<readonly WebhookDelivery[]>;
  /**
   * Delivers again what was dropped at an endpoint since a time; at most 1,000 in one call. Answers how many.
   * @throws WebhookError
   */
  recover(owner: Owner, endpointId: string, options: { readonly since: Date }): Promise<number>;
}

const endpointOf = ({ sealedSecret: _, version: __, ...endpoint }: WebhookEndpointRecord): WebhookEndpoint =>
  shown(endpoint);

function deliveryOf({ attempts, partner: _, mode: __, ...delivery }: DeliveryRecord): WebhookDelivery {
  return {
    ...shown(delivery),
    attempts: attempts.map(({ response: ___, ...attempt }) => shown(attempt)),
  };
}

const noAnswer = { status: 200, body: '' };

function assertQueued(result: Redelivery, eventId: string, endpointId: string): void {
  switch (result.outcome) {
    case 'unknown_event':
      throw new WebhookError('event_not_found', eventId);
    case 'unknown_endpoint':
      throw new WebhookError('endpoint_not_found', endpointId);
    case 'disabled_endpoint':
      throw new WebhookError('endpoint_disabled', endpointId);
    default:
  }
}

/** Switches endpoints on and off: the latest version, again when somebody else was faster. */
function switching({ storage: { webhooks }, clock, sealer }: Core, act: Act) {
  return async (owner: Owner, id: string, enabled: boolean): Promise<WebhookEndpoint> => {
    for (;;) {
      const stored = await webhooks.find(owner, id);
      if (stored === null) throw new WebhookError('endpoint_not_found', id);
      const now = clock.now();
      const sealedSecret = keptSecret(sealer, stored);
      const next = { ...stored, enabled, sealedSecret, updatedAt: now, version: stored.version + 1 };
      const audit = act(enabled ? 'endpoint.enable' : 'endpoint.disable', `endpoint:${id}`, { ...owner });
      if (await webhooks.replace(next, now, audit)) return endpointOf(next);
    }
  };
}

export function webhookAdministration(core: Core, act: Act): WebhookAdministration {
  const { clock, random } = core;
  const { webhooks, deliveries } = core.storage;
  const setEnabled = switching(core, act);
  const newId = () => newDeliveryId(random.bytes(16).toString('hex'));

  return {
    list: async (owner) => (await webhooks.list(owner)).map(endpointOf),
    disable: (owner, id) => setEnabled(owner, id, false),
    enable: (owner, id) => setEnabled(owner, id, true),

    async remove(owner, id) {
      const audit = act('endpoint.remove', `endpoint:${id}`, { ...owner });
      if (!(await webhooks.remove(owner, id, clock.now(), audit)))
        throw new WebhookError('endpoint_not_found', id);
    },

    async deliveries(owner, { endpointId = null, eventId = null, status = null, ...request } = {}) {
      const after = placeAfter(request);
      const { page, next } = await listPage(request, {
        read: (limit) => deliveries.list({ ...owner, endpointId, eventId, status, after, limit }),
        shown: deliveryOf,
        placeOf: ({ createdAt, id }) => writePlace({ time: createdAt, id }),
      });
      return { deliveries: page, next };
    },

    async redeliver(owner, eventId, { endpointId } = {}) {
      let made: readonly DeliveryRecord[] = [];
      const result = await deliveries.redeliver({
        ...owner,
        eventId,
        endpointId: endpointId ?? null,
        deliveryId: newId(),
        now: clock.now(),
        idempotency: null,
        answer: (records) => {
          made = records;
          return noAnswer;
        },
        audit: act('event.redeliver', `event:${eventId}`, { ...owner, endpointId: endpointId ?? null }),
      });
      assertQueued(result, eventId, endpointId ?? '');
      core.wake('deliveries');
      return made.map(deliveryOf);
    },

    async recover(owner, endpointId, { since }) {
      const from = since.getTime();
      if (!Number.isFinite(from)) throw new TypeError('since: has to be a date');
      let count = 0;
      const result = await deliveries.recover({
        ...owner,
        endpointId,
        since: from,
        deliveryId: newId(),
        now: clock.now(),
        limit: maxRecovered,
        idempotency: null,
        answer: (number) => {
          count = number;
          return noAnswer;
        },
        audit: act('endpoint.recover', `endpoint:${endpointId}`, { ...owner, since: since.toISOString() }),
      });
      assertQueued(result, '', endpointId);
      core.wake('deliveries');
      return count;
    },
  };
}
