import { z } from 'zod';
import type { Core } from '../options/context.ts';
import type { DeliveryState } from '../ports/deliveries.ts';
import type { EventRecord } from '../ports/events.ts';
import type { Mode } from '../ports/partners.ts';
import type { WebhookEndpointRecord } from '../ports/webhooks.ts';
import { countedAtMost } from '../text/list-pages.ts';
import { deliveryStates } from '../webhooks/delivery-state.ts';
import { recentMs } from '../webhooks/obstacles.ts';
import { checked, type Shown, shown } from './checked.ts';
import { type FailingEndpoint, failingView } from './health.ts';
import {
  readSortedPage,
  readTimedPage,
  type SortedRequest,
  type TimedRequest,
  type TwoWayPage,
} from './list-page.ts';

/** A partner's webhook endpoint as administrators see it, without its secret. Times are ISO 8601. */
export type WebhookEndpoint = Shown<Omit<WebhookEndpointRecord, 'sealedSecret' | 'version'>>;

/**
 * A published event of any partner, with the states of its latest deliveries, at most 10. Times are in ISO
 * 8601.
 */
export interface ListedEvent
  extends Shown<Pick<EventRecord, 'id' | 'partner' | 'mode' | 'type' | 'sequence' | 'createdAt'>> {
  readonly deliveries: readonly DeliveryState[];
}

/** Filters for a list of all partners' objects. */
export interface EverywhereSearch {
  /** Mode (live or test) of the listed objects. @defaultValue `"live"` */
  readonly mode?: Mode;
  /** Slug (id) of a partner whose objects are listed. @defaultValue all partners */
  readonly partner?: string;
}

/** Filters for a list of all partners' endpoints. */
export interface EndpointSearch extends EverywhereSearch {
  /** True to list enabled endpoints only, false to list disabled ones only. @defaultValue both */
  readonly enabled?: boolean;
}

/** Filters for a list of all partners' events. */
export interface EventSearch extends EverywhereSearch {
  /** Type of the listed events, such as `payment.completed`. @defaultValue all types */
  readonly type?: string;
  /**
   * Status of a delivery of the listed events: `pending` selects events with any pending delivery, `failing` with one of
   * which an attempt has failed, and `none` events without deliveries. @defaultValue all events
   */
  readonly status?: DeliveryState | 'none';
  /** Latest time of the listed events. */
  readonly until?: Date;
}

/**
 * Lists of all partners' endpoints and events, in ascending or descending order. A count stops at 10,000,
 * which means 10,000 or more. Every call throws a TypeError if an argument is invalid.
 */
export interface WebhookLists {
  /** Lists endpoints by URL (the order `name`) or by time of creation. */
  sorted(request?: SortedRequest & EndpointSearch): Promise<TwoWayPage<WebhookEndpoint>>;
  /** Counts the webhook endpoints that match a search. */
  count(search?: EndpointSearch): Promise<number>;
  /**
   * Lists the endpoints that fail now, by the start of their failure. An endpoint fails if its last attempt
   * failed less than a day ago, or if a failed delivery waits for another attempt.
   */
  failing(request?: TimedRequest & EverywhereSearch): Promise<TwoWayPage<FailingEndpoint>>;
  /** Counts the endpoints that fail now and match a search. */
  countFailing(search?: EverywhereSearch): Promise<number>;
  /** Lists events by time, with the states of their deliveries. */
  sortedEvents(request?: TimedRequest & EventSearch): Promise<TwoWayPage<ListedEvent>>;
  /** Counts the events that match a search. */
  countEvents(search?: EventSearch): Promise<number>;
}

/** Filter of a list whose members may also be `undefined`, which is the same as a missing member. */
type Given<Search> = { readonly [Name in keyof Search]?: Search[Name] | undefined };

/** Schema of the filters that all lists of all partners' objects have. */
export const everywhere = z.strictObject({
  mode: z.enum(['live', 'test']).default('live'),
  partner: z.string().max(300).optional(),
});

const endpointSearch = everywhere.extend({ enabled: z.boolean().optional() });
const eventSearch = everywhere.extend({
  type: z.string().max(300).optional(),
  status: z.enum([...deliveryStates, 'none']).optional(),
  until: z.date().optional(),
});

/** Maximum number of deliveries of an event whose states are listed. */
const statesAtMost = 10;

export const endpointView = ({
  sealedSecret: _,
  version: __,
  ...endpoint
}: WebhookEndpointRecord): WebhookEndpoint => shown(endpoint);

function endpointFilter(search: Given<EndpointSearch>) {
  const { mode, partner = null, enabled = null } = checked(endpointSearch, search);
  return { mode, partner, enabled };
}

function eventFilter(search: Given<EventSearch>) {
  const { mode, partner = null, type = null, status = null, until } = checked(eventSearch, search);
  return { mode, partner, type, status, until: until?.getTime() ?? null };
}

export function webhookLists({ storage: { webhooks, events, deliveries }, clock }: Core): WebhookLists {
  function failingFilter(search: Given<EverywhereSearch>) {
    const { mode, partner = null } = checked(everywhere, search);
    return { mode, partner, failedSince: clock.now() - recentMs };
  }

  return {
    async sorted({ mode, partner, enabled, ...request } = {}) {
      const filter = endpointFilter({ mode, partner, enabled });
      return readSortedPage(request, {
        read: (page) => webhooks.sorted({ ...page, ...filter }),
        shown: endpointView,
        idOf: ({ id }) => id,
        nameOf: ({ url }) => url,
      });
    },
    count: async (search = {}) => webhooks.count(endpointFilter(search), countedAtMost),

    async failing({ mode, partner, ...request } = {}) {
      const filter = failingFilter({ mode, partner });
      return readTimedPage(request, {
        read: (page) => webhooks.failing({ ...page, ...filter, countTo: countedAtMost }),
        shown: failingView,
        placeOf: ({ since, endpointId }) => ({ time: since, id: endpointId }),
      });
    },
    countFailing: async (search = {}) => webhooks.countFailing(failingFilter(search), countedAtMost),

    async sortedEvents({ mode, partner, type, status, until, ...request } = {}) {
      const filter = eventFilter({ mode, partner, type, status, until });
      const page = await readTimedPage(request, {
        read: (page) => events.everywhere({ ...page, ...filter }),
        shown: ({ body: _, ...event }) => event,
        placeOf: ({ createdAt, id }) => ({ time: createdAt, id }),
      });
      const eventIds = page.rows.map(({ id }) => id);
      const owners = { mode: filter.mode, partner: filter.partner };
      const states = await deliveries.latestStates({ ...owners, eventIds, limit: statesAtMost });
      const rows = page.rows.map((event) => ({ ...shown(event), deliveries: states.get(event.id) ?? [] }));
      return { ...page, rows };
    },
    countEvents: async (search = {}) => events.count(eventFilter(search), countedAtMost),
  };
}
