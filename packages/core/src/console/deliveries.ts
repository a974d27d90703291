import type { Context } from 'koa';
import type { Core } from '../context.ts';
import type { DeliveryView } from '../pages/console/delivery.ts';
import type { FailureKind } from '../pages/console/failures.ts';
import type { StateCounts } from '../pages/console/parts.ts';
import type { AttemptRecord, DeliveryRecord } from '../ports/deliveries.ts';
import type { ListPosition } from '../ports/lists.ts';
import type { Owner } from '../ports/owner.ts';
import type { WebhookEndpointRecord } from '../ports/webhooks.ts';
import type { AttemptErrorClass } from '../webhooks/attempt-errors.ts';

/** Deliveries on one page: each may carry five answers of 16 KiB. */
const deliveriesPerPage = 10;

const kinds: { readonly [E in Exclude<AttemptErrorClass, 'status'>]: FailureKind } = {
  target_refused: 'target_refused',
  timeout: 'timeout',
  connection_refused: 'connection_refused',
  connection_failed: 'connection_failed',
  connection_reset: 'connection_reset',
  certificate: 'certificate',
  tls: 'tls',
  protocol: 'protocol',
  redirect: 'redirect',
  aborted: 'aborted',
  internal: 'internal',
};

const isKnown = (error: string): error is keyof typeof kinds => Object.hasOwn(kinds, error);

/** What is behind a failed attempt, as far as there is advice for it. */
export function failureKind({ error, httpStatus }: Pick<AttemptRecord, 'error' | 'httpStatus'>): FailureKind {
  if (error !== 'status') return error !== null && isKnown(error) ? kinds[error] : 'unknown';
  if (httpStatus === 401 || httpStatus === 403) return 'status_denied';
  if (httpStatus === 404 || httpStatus === 405 || httpStatus === 410) return 'status_missing';
  if (httpStatus === 429) return 'status_busy';
  return httpStatus !== null && httpStatus >= 500 ? 'status_server' : 'status_other';
}

/** A delivery as a page shows it. */
export function deliveryView(
  { options }: Pick<Core, 'options'>,
  delivery: DeliveryRecord,
  links: Pick<DeliveryView, 'about' | 'again'>,
): DeliveryView {
  const { id, status, createdAt, nextAttemptAt, attempts } = delivery;
  return {
    id,
    state: status,
    createdAt: new Date(createdAt),
    nextAttemptAt: nextAttemptAt === null ? null : new Date(nextAttemptAt),
    maxAttempts: options.webhooks.retryDelaysSeconds.length + 1,
    attempts: attempts.map((attempt) => ({
      number: attempt.number,
      at: new Date(attempt.at),
      durationMs: attempt.durationMs,
      httpStatus: attempt.httpStatus,
      failure: attempt.error === null ? null : { error: attempt.error, kind: failureKind(attempt) },
      response: attempt.response,
    })),
    ...links,
  };
}

/** How many of these deliveries are in which state. */
export function countStates(deliveries: readonly DeliveryRecord[]): StateCounts {
  const counts = { pending: 0, delivered: 0, dropped: 0, cancelled: 0 };
  for (const { status } of deliveries) counts[status] += 1;
  return counts;
}

/** The place in a list that an address names; anything that is none begins at the newest. */
function positionOf({ query }: Context): ListPosition | null {
  const [, time = '', id = ''] = /^([0-9]{1,15})\.(dl_[0-9a-z_]{1,64})$/.exec(String(query.after)) ?? [];
  return id === '' ? null : { time: Number(time), id };
}

/** One page of the deliveries of an event or to an endpoint, and what its address says of the next one. */
export async function listDeliveries(
  core: Core,
  ctx: Context,
  of: Owner & Pick<Parameters<Core['storage']['deliveries']['list']>[0], 'eventId' | 'endpointId'>,
): Promise<{ readonly deliveries: readonly DeliveryRecord[]; readonly after: string | null }> {
  const found = await core.storage.deliveries.list({
    ...of,
    status: null,
    after: positionOf(ctx),
    limit: deliveriesPerPage + 1,
  });
  const deliveries = found.slice(0, deliveriesPerPage);
  const last = deliveries.at(-1);
  const after =
    found.length > deliveriesPerPage && last !== undefined ? `${last.createdAt}.${last.id}` : null;
  return { deliveries, after };
}

/** The endpoints of a partner by id. */
export function byId(
  endpoints: readonly WebhookEndpointRecord[],
): ReadonlyMap<string, WebhookEndpointRecord> {
  return new Map(endpoints.map((endpoint) => [endpoint.id, endpoint]));
}
