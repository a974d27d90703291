import type { PartnerCalls } from './calls.ts';
import { random, type Walk } from './flow.ts';
import { found, textOf } from './found.ts';
import type { Delivery, Receiver } from './receiver.ts';

/** State that the webhook steps of the walkthrough share. */
export interface WebhookWalk extends Walk {
  readonly live: PartnerCalls;
  readonly test: PartnerCalls;
  readonly receiver: Receiver;
  /** Webhook secrets by the receiver's path. */
  readonly secrets: Readonly<Record<'/live' | '/test', string>>;
}

const names = ['Event', 'EventId', 'Timestamp', 'Signature', 'Partner', 'Attempt'] as const;

/** Returns a header of a webhook by its name without the prefix. */
export const headerOf = ({ file }: Walk, { headers }: Delivery, name: (typeof names)[number]): string =>
  headers[`x-${file.prefix}-${name}`.toLowerCase()] ?? '';

/** Returns the headers of a delivery that carry the prefix, with the documented names. */
export function wireHeaders(walk: Walk, delivery: Delivery): Readonly<Record<string, string>> {
  const wire = `X-${walk.file.prefix.toUpperCase()}-`;
  return Object.fromEntries(names.map((name) => [`${wire}${name}`, headerOf(walk, delivery, name)]));
}

/**
 * Waits for `count` webhooks of an event type whose bodies contain `text`. Reports the webhook if `count` is
 * 1. Returns the latest webhook, then the earlier ones in the order of arrival.
 */
export async function arrivals(
  walk: WebhookWalk,
  type: string,
  text: string,
  count = 1,
): Promise<readonly [last: Delivery, ...before: Delivery[]]> {
  const isIt = (delivery: Delivery): boolean =>
    headerOf(walk, delivery, 'Event') === type && Buffer.from(delivery.body).includes(text);
  const [last, ...before] = [...(await walk.receiver.until(count, isIt))].reverse();
  if (count === 1) show(walk, found(last, 'delivery'));
  return [found(last, 'delivery'), ...before.reverse()];
}

/** Reports a webhook as it arrived. */
export function show(walk: WebhookWalk, delivery: Delivery): void {
  const { report, receiver } = walk;
  report.received(`webhook POST ${receiver.origin}${delivery.path}, answered ${delivery.status}`, {
    ...wireHeaders(walk, delivery),
    body: Buffer.from(delivery.body).toString('utf8'),
  });
}

/** Registers the receiver as a webhook endpoint and returns its id. */
export async function register(walk: WebhookWalk, path: '/live' | '/test'): Promise<string> {
  const secret = walk.secrets[path];
  const url = `${walk.receiver.origin}${path}`;
  const calls = path === '/live' ? walk.live : walk.test;
  const { status, body, text } = await calls.post('webhooks', { url, events: ['*'], secret });
  walk.report.check({
    'it is registered': status === 201 && body.url === url && body.enabled === true,
    'its secret is not shown again': !text.includes(secret),
  });
  return textOf(body.id, 'id');
}

/** Pays the user, and returns the id of the transfer. */
export async function pay({ live, user, report }: WebhookWalk, amount: string): Promise<string> {
  const payment = { amount, currency: 'HTG', recipient: { kid: user.kid } };
  const { status, body } = await live.post('payments', payment, { idempotencyKey: random() });
  report.check({ 'a transfer is taken on': status === 201 });
  return textOf(body.id, 'id');
}

/**
 * Returns the error code with which the verifier refuses a webhook; `undefined` if the verifier accepts the
 * webhook.
 */
export const refusalOf = (verifying: Promise<unknown>): Promise<unknown> =>
  verifying.then(
    () => undefined,
    (error: unknown) => (error instanceof Error && 'code' in error ? error.code : undefined),
  );
