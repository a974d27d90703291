import { random, textOf, type Walk } from './flow.ts';
import type { PartnerAnswer, PartnerCalls } from './partner-calls.ts';
import type { Delivery, Receiver } from './receiver.ts';

/** What the steps about webhooks share. */
export interface WebhookWalk extends Walk {
  readonly live: PartnerCalls;
  readonly test: PartnerCalls;
  readonly receiver: Receiver;
  /** By path of the receiver. */
  readonly secrets: Readonly<Record<'/live' | '/test', string>>;
}

/** Members of an object. */
export type Fields = Readonly<Record<string, unknown>>;

/** The members of `data`, as an API's list has them. */
export function rowsOf({ body }: PartnerAnswer): readonly Fields[] {
  return Array.isArray(body.data) ? (body.data as readonly Fields[]) : [];
}

/** A header of the wire, by what stands after its prefix. */
export function headerOf({ file }: Walk, delivery: Delivery, name: string): string {
  return delivery.headers[`x-${file.prefix}-${name}`.toLowerCase()] ?? '';
}

/** The headers of a delivery as they are documented. */
export function wireHeaders(walk: Walk, delivery: Delivery): Readonly<Record<string, string>> {
  const names = ['Event', 'EventId', 'Timestamp', 'Signature', 'Partner', 'Attempt'];
  const wire = `X-${walk.file.prefix.toUpperCase()}-`;
  return Object.fromEntries(names.map((name) => [`${wire}${name}`, headerOf(walk, delivery, name)]));
}

/** Writes a delivery down as it came in. */
export function showDelivery(walk: WebhookWalk, delivery: Delivery): void {
  const { report, receiver } = walk;
  report.received(`webhook POST ${receiver.origin}${delivery.path}, answered ${delivery.status}`, {
    ...wireHeaders(walk, delivery),
    body: Buffer.from(delivery.body).toString('utf8'),
  });
}

/** The webhooks of one event, by what its data says. */
export function about(walk: Walk, type: string, text: string): (delivery: Delivery) => boolean {
  return (delivery) =>
    headerOf(walk, delivery, 'Event') === type && Buffer.from(delivery.body).includes(text);
}

/** Registers the receiver. */
export async function register(walk: WebhookWalk, path: '/live' | '/test'): Promise<string> {
  const { report, receiver, secrets } = walk;
  const calls = path === '/live' ? walk.live : walk.test;
  const url = `${receiver.origin}${path}`;
  const { status, body, text } = await calls.post('/v1/partner/webhooks', {
    url,
    events: ['*'],
    secret: secrets[path],
  });
  report.check(status === 201 && body.url === url && body.enabled === true, 'it is registered');
  report.check(!text.includes(secrets[path]), 'its secret is not shown again');
  return textOf(body.id, 'id');
}

/** Pays the user, and answers the id of the transfer. */
export async function pay({ live, user, report }: WebhookWalk, amount: string): Promise<string> {
  const { status, body } = await live.post(
    '/v1/partner/payments',
    { amount, currency: 'HTG', recipient: { kid: user.kid } },
    { idempotencyKey: random() },
  );
  report.check(status === 201, 'a transfer is taken on');
  return textOf(body.id, 'id');
}
