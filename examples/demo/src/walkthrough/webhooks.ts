import { createHmac } from 'node:crypto';
import { tamper, verify } from '@ostiary/webhook-verifier';
import { callsOf, isRefused, rowsOf } from './calls.ts';
import { approvedExchange, random, type Walk } from './flow.ts';
import { eventually } from './found.ts';
import { type Delivery, openReceiver } from './receiver.ts';
import { walkThroughSandboxEvents } from './sandbox-events.ts';
import { dropping, redelivering, retrying } from './webhook-retries.ts';
import {
  arrivals,
  headerOf,
  pay,
  refusalOf,
  register,
  type WebhookWalk,
  wireHeaders,
} from './webhook-walk.ts';

async function registering(walk: WebhookWalk): Promise<string> {
  const { report, live, receiver, secrets } = walk;
  report.step('The partner registers a webhook endpoint, with a secret of its own');
  const id = await register(walk, '/live');
  for (const [path, claim, value] of [
    ['secret', 'a short secret', 'short'],
    ['url', 'an address with a password in it', 'http://user:password@localhost/'],
    ['events', 'an unknown type of event', ['payment.imagined']],
  ] as const) {
    const endpoint = { url: `${receiver.origin}/live`, events: ['*'], secret: secrets['/live'] };
    const answer = await live.post('webhooks', { ...endpoint, [path]: value });
    const isToBlame = JSON.stringify(answer.body.details).includes(path);
    report.check({ [`${claim} is refused`]: isRefused(answer, 400, 'invalid_request') && isToBlame });
  }
  return id;
}

async function receiving(walk: WebhookWalk): Promise<Delivery> {
  const { report, secrets, file } = walk;
  report.step('The partner pays, and waits for the webhook instead of polling');
  const transfer = await pay(walk, '12.50');
  const [delivery] = await arrivals(walk, 'payment.completed', transfer);
  report.check({
    'it is JSON': delivery.headers['content-type'] === 'application/json',
    'with the id of the event': headerOf(walk, delivery, 'EventId').startsWith('evt_'),
    'for this partner': headerOf(walk, delivery, 'Partner') === 'kafe-lakay',
    'at the first attempt': headerOf(walk, delivery, 'Attempt') === '1',
  });

  report.step('It verifies the webhook');
  const secret = secrets['/live'];
  const { body, headers } = delivery;
  const signed = createHmac('sha256', secret)
    .update(`${headerOf(walk, delivery, 'Timestamp')}.`)
    .update(body);
  const options = { secret, prefix: file.prefix };
  const { event } = await verify(body, headers, options);
  const told = event.type === 'payment.completed' ? event.data : undefined;
  const later = verify(body, headers, { ...options, now: Date.now() + 301_000 });
  report.check({
    'the signature is HMAC-SHA256 of timestamp, dot and body':
      signed.digest('hex') === headerOf(walk, delivery, 'Signature'),
    'the verifier accepts it': told !== undefined && event.mode === 'live',
    'it contains the transfer': told?.id === transfer && told.status === 'completed',
    'five minutes later the same bytes are refused': (await refusalOf(later)) === 'timestamp_too_old',
  });
  return delivery;
}

async function tampering(walk: WebhookWalk, delivery: Delivery): Promise<void> {
  const { report, receiver, file } = walk;
  report.step('Somebody alters the webhook and sends it again');
  const signed = { headers: wireHeaders(walk, delivery), body: delivery.body };
  const copies = tamper(signed, { prefix: file.prefix });
  const accepted: string[] = [];
  for (const { name, headers, body } of copies) {
    const { status } = await fetch(`${receiver.origin}${delivery.path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body,
      signal: AbortSignal.timeout(10_000),
    });
    if (status !== 400) accepted.push(name);
  }
  report.check({
    [`${copies.length} altered copies are answered with 400`]: accepted.length === 0,
    'the event was handled once': receiver.handled.get(headerOf(walk, delivery, 'EventId')) === 1,
  });
}

async function inTheShop({ report, browser, shopUrl, file }: WebhookWalk, eventId: string): Promise<void> {
  report.step('The shop, another endpoint of the partner, got the event, too');
  const shown = await eventually('its page shows the event', async () => {
    const { status, html } = await browser.open(`${shopUrl}/webhooks`);
    return status === 200 && html.includes(`data-event="${eventId}"`) ? html : undefined;
  });
  report.check({
    'its page shows the event': true,
    'and no secret': file.webhooks.every(({ secret }) => !shown.includes(secret)),
  });
}

async function kycChanging(walk: WebhookWalk): Promise<void> {
  const { report, user, changeKyc, confidential } = walk;
  report.step('The identity check of a user changes, whose consent the partner does not hold');
  const unheard = await changeKyc(user.handle, { kycStatus: 'pending' });
  report.check({
    'no partner is notified': unheard.account.kycStatus === 'pending' && unheard.events.length === 0,
  });

  report.step('The user shares it with the app; it changes again');
  const { code } = await approvedExchange(walk, confidential, 'openid kyc');
  const told = await changeKyc(user.handle, { kycStatus: 'approved', kycTier: 2 });
  const [delivery] = await arrivals(walk, 'kyc.updated', user.kid);
  const { data } = JSON.parse(Buffer.from(delivery.body).toString('utf8'));
  const { kycStatus, kycTier, previous } = data;
  report.check({
    'the user approves': code !== undefined,
    'the partner is notified': told.events.map(({ partner }) => partner).join() === 'kafe-lakay',
    'kyc.updated says what it is and what it was':
      JSON.stringify([kycStatus, kycTier, previous]) === '["approved",2,{"kycStatus":"pending","kycTier":3}]',
  });
}

async function listing({ report, live }: WebhookWalk, known: readonly string[]): Promise<void> {
  report.step('The partner reads its events, in case it missed one');
  const rows = rowsOf(await live.get('events?limit=100'));
  const rest = await live.get('events?after=1&limit=1');
  report.check({
    'every event is there': known.every((id) => rows.some((row) => row.id === id)),
    'numbered without a gap': rows.every(({ sequence }, index) => sequence === index + 1),
    'and can be paged by number': rowsOf(rest)[0]?.sequence === 2 && rest.body.nextAfter === 2,
  });
}

/** Walks through webhooks, from the registration of an endpoint to its removal. @throws StepFailed */
export async function walkThroughWebhooks(walk: Walk): Promise<void> {
  const secrets = { '/live': random(), '/test': random() };
  const receiver = await openReceiver(walk.file.prefix, secrets);
  const [live, test] = [callsOf(walk, 'live'), callsOf(walk, 'test')];
  const webhooks: WebhookWalk = { ...walk, live, test, receiver, secrets };
  try {
    const endpoint = await registering(webhooks);
    const delivery = await receiving(webhooks);
    const eventId = headerOf(webhooks, delivery, 'EventId');
    await tampering(webhooks, delivery);
    await inTheShop(webhooks, eventId);
    const retried = await retrying(webhooks, endpoint);
    await dropping(webhooks, endpoint);
    await redelivering(webhooks, endpoint, retried);
    await kycChanging(webhooks);
    await listing(webhooks, [eventId, retried]);
    await walkThroughSandboxEvents(webhooks);

    walk.report.step('The partner removes its endpoint');
    const { status, body } = await live.delete(`webhooks/${endpoint}`);
    const gone = await live.get(`webhooks/${endpoint}`);
    walk.report.check({
      'it is removed': status === 200 && body.deleted === true,
      'and no longer there': isRefused(gone, 404, 'not_found'),
    });
  } finally {
    await receiver.close();
  }
}
