import type { ConsoleVisit, Delivery, PartnerEvent, WebhookEndpoint } from '@ostiary/core/console';

/** Where a delivery is, in the order in which pages name it. */
export const deliveryStatuses = ['pending', 'delivered', 'dropped', 'cancelled'] as const;

/** See {@link deliveryStatuses}. */
export type DeliveryStatus = (typeof deliveryStatuses)[number];

/** An event in a list, with what became of its latest deliveries. */
export interface ListedEvent extends PartnerEvent {
  readonly deliveries: readonly DeliveryStatus[];
  /** Whether there are older ones, whose status is not told. */
  readonly hasMoreDeliveries: boolean;
}

/** A page of deliveries, the newest first. */
export interface DeliveryPage {
  readonly data: readonly Delivery[];
  readonly nextCursor: string | null;
}

/** Deliveries on one page: each may carry five answers of 16 KiB. */
const deliveriesPerPage = '10';

/** Leaves out what is not set: an empty parameter would be one. */
function set(query: { readonly [name: string]: string | null }): { [name: string]: string } {
  return Object.fromEntries(Object.entries(query).flatMap(([name, value]) => (value ? [[name, value]] : [])));
}

/** The operations of the partner API that the console's pages are made of, with the types of their answers. */
export function apiOf({ call }: ConsoleVisit) {
  return {
    endpoints: async () =>
      ((await call('listWebhooks')) as { readonly data: readonly WebhookEndpoint[] }).data,

    endpoint: async (id: string) => (await call('getWebhook', { path: { id } })) as WebhookEndpoint,

    addEndpoint: (settings: { url: string; secret: string; events: readonly string[] }) =>
      call('createWebhook', { body: JSON.stringify(settings) }),

    enableEndpoint: (id: string, enabled: boolean) =>
      call('updateWebhook', { path: { id }, body: JSON.stringify({ enabled }) }),

    removeEndpoint: (id: string) => call('deleteWebhook', { path: { id } }),

    deliveriesTo: async (id: string, filter: { status: string | null; cursor: string | null }) =>
      (await call('listDeliveries', {
        path: { id },
        query: set({ ...filter, limit: deliveriesPerPage }),
      })) as DeliveryPage,

    /** The newest first. */
    events: async (filter: { type: string | null; before: string | null }) =>
      (await call('latestEvents', { query: set(filter) })) as {
        readonly data: readonly ListedEvent[];
        readonly hasMore: boolean;
      },

    event: async (id: string) => (await call('getEvent', { path: { id } })) as PartnerEvent,

    deliveriesOf: async (id: string, cursor: string | null) =>
      (await call('listEventDeliveries', {
        path: { id },
        query: set({ cursor, limit: deliveriesPerPage }),
      })) as DeliveryPage,

    /** @returns how many deliveries are under way */
    redeliver: async (id: string, endpointId: string | undefined) => {
      const body = JSON.stringify(endpointId === undefined ? {} : { endpointId });
      const answer = await call('redeliverEvent', { path: { id }, body });
      return (answer as { readonly data: readonly unknown[] }).data.length;
    },

    /** @param data - JSON, or what was written instead of it; `undefined` for the example of the type */
    trigger: async (type: string, data: string | undefined) => {
      const member = data === undefined ? '' : `,"data":${data}`;
      return (await call('createSandboxEvent', {
        body: `{"type":${JSON.stringify(type)}${member}}`,
      })) as Omit<PartnerEvent, 'sequence'>;
    },
  };
}

/** See {@link apiOf}. */
export type Api = ReturnType<typeof apiOf>;
