import { createHmac } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { tamper, verify } from '@ostiary/webhook-verifier';
import { authorize, decide, found, random, type Walk } from './flow.ts';
import { callsOf } from './partner-calls.ts';
import { type Delivery, openReceiver } from './receiver.ts';
import { StepFailed } from './report.ts';
import { walkThroughSandboxEvents } from './sandbox-events.ts';
import { dropping, redelivering, retrying } from './webhook-retries.ts';
import {
  about,
  headerOf,
  pay,
  register,
  rowsOf,
  showDelivery,
  type WebhookWalk,
  wireHeaders,
} from './webhook-walk.ts';

async function registering(walk: WebhookWalk): Promise<string> {
  const { report, live, receiver, secrets } = walk;
  report.step('The partner registers a webhook endpoint, with a secret of its own');
  const id = await register(walk, '/live');
  for (const [path, claim, change] of [
    ['secret', 'a short secret', { secret: 'short' }],
    ['url', 'an address with a password in it', { url: 'http://user:password@localhost/' }],
    ['events', 'an unknown type of event', { events: ['payment.imagined'] }],
  ] as const) {
    const endpoint = { url: `${receiver.origin}/live`, events: ['*'], secret: secrets['/live'], ...change };
    const { status, body } = await live.post('/v1/partner/webhooks', endpoint);
    report.check(
      status === 400 && body.code === 'invalid_request' && JSON.stringify(body.details).includes(path),
      `${claim} is refused`,
    );
  }
  return id;
}

async function receiving(walk: WebhookWalk): Promise<Delivery> {
  const { report, receiver, secrets, file } = walk;
  report.step('It pays, and waits to be told instead of asking');
  const transfer = await pay(walk, '12.50');
  const [delivery] = await receiver.until(1, about(walk, 'payment.completed', transfer));
  if (delivery === undefined) throw new StepFailed('there is no delivery');
  showDelivery(walk, delivery);
  report.check(delivery.headers['content-type'] === 'application/json', 'it is JSON');
  report.check(/^evt_/.test(headerOf(walk, delivery, 'EventId')), 'with the id of the event');
  report.check(headerOf(walk, delivery, 'Partner') === 'kafe-lakay', 'for this partner');
  report.check(headerOf(walk, delivery, 'Attempt') === '1', 'at the first attempt');

  report.step('It verifies the webhook');
  const timestamp = headerOf(walk, delivery, 'Timestamp');
  const byHand = createHmac('sha256', secrets['/live']).update(`${timestamp}.`).update(delivery.body);
  report.check(
    byHand.digest('hex') === headerOf(walk, delivery, 'Signature'),
    'the signature is HMAC-SHA256 of timestamp, dot and body',
  );
  const options = { secret: secrets['/live'], prefix: file.prefix };
  const { event } = await verify(delivery.body, delivery.headers, options);
  report.check(event.type === 'payment.completed' && event.mode === 'live', 'the verifier accepts it');
  report.check(
    event.type === 'payment.completed' && event.data.id === transfer && event.data.status === 'completed',
    'it tells of the transfer',
  );
  const old = await verify(delivery.body, delivery.headers, { ...options, now: Date.now() + 301_000 }).catch(
    (error: unknown) => error,
  );
  report.check(
    old instanceof Error && 'code' in old && old.code === 'timestamp_too_old',
    'five minutes later the same bytes are refused',
  );
  return delivery;
}

async function tampering(walk: WebhookWalk, delivery: Delivery): Promise<void> {
  const { report, receiver, file } = walk;
  report.step('Somebody alters the webhook and sends it again');
  const signed = { headers: wireHeaders(walk, delivery), body: delivery.body };
  const copies = tamper(signed, { prefix: file.prefix });
  const accepted: string[] = [];
  for (const copy of copies) {
    const { status } = await fetch(`${receiver.origin}${delivery.path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...copy.headers },
      body: copy.body,
      signal: AbortSignal.timeout(10_000),
    });
    if (status !== 400) accepted.push(copy.name);
  }
  report.check(accepted.length === 0, `${copies.length} altered copies are answered with 400`);
  report.check(receiver.handled.get(headerOf(walk, delivery, 'EventId')) === 1, 'the event was handled once');
}

async function inTheShop({ report, browser, shopUrl, file }: WebhookWalk, eventId: string): Promise<void> {
  report.step('The shop, another endpoint of the partner, was told as well');
  const deadline = performance.now() + 10_000;
  for (;;) {
    const page = await browser.open(`${shopUrl}/webhooks`);
    const told = page.html.includes(`data-event="${eventId}"`);
    if (told || performance.now() >= deadline) {
      report.check(page.status === 200 && told, 'its page shows the event');
      report.check(
        file.webhooks.every(({ secret }) => !page.html.includes(secret)),
        'and no secret',
      );
      return;
    }
    await delay(100);
  }
}

async function listing({ report, live }: WebhookWalk, known: readonly string[]): Promise<void> {
  report.step('The partner reads its events, in case it missed one');
  const all = await live.get('/v1/partner/events?limit=100');
  const rows = rowsOf(all);
  report.check(
    all.status === 200 && known.every((id) => rows.some((row) => row.id === id)),
    'every event is there',
  );
  report.check(
    rows.every(({ sequence }, index) => sequence === index + 1),
    'numbered without a gap',
  );
  const rest = await live.get('/v1/partner/events?after=1&limit=1');
  report.check(rowsOf(rest)[0]?.sequence === 2 && rest.body.nextAfter === 2, 'and can be paged by number');
}

async function kycChanging(walk: WebhookWalk): Promise<void> {
  const { report, receiver, user, changeKyc, file } = walk;
  report.step('The identity check of a user changes, whose consent the partner does not hold');
  const unheard = await changeKyc(user.handle, { kycStatus: 'pending' });
  report.check(unheard.account.kycStatus === 'pending' && unheard.events.length === 0, 'nobody is told');

  report.step('The user shares it with the app; it changes again');
  const client = found(
    file.clients.find(({ clientSecret }) => clientSecret !== null),
    'confidential client',
  );
  const { attempt, page } = await authorize(walk, client, 'openid kyc');
  report.check((await decide(walk, attempt, page, 'approve')).has('code'), 'the user approves');
  const told = await changeKyc(user.handle, { kycStatus: 'approved', kycTier: 2 });
  report.check(told.events.map(({ partner }) => partner).join() === 'kafe-lakay', 'the partner is told');
  const [delivery] = await receiver.until(1, about(walk, 'kyc.updated', user.kid));
  if (delivery === undefined) throw new StepFailed('there is no delivery');
  showDelivery(walk, delivery);
  const { data } = JSON.parse(Buffer.from(delivery.body).toString('utf8'));
  report.check(
    data.kycStatus === 'approved' &&
      data.kycTier === 2 &&
      JSON.stringify(data.previous) === '{"kycStatus":"pending","kycTier":3}',
    'kyc.updated says what it is and what it was',
  );
}

/** Webhooks, from the registration of an endpoint to its removal. @throws StepFailed */
export async function walkThroughWebhooks(walk: Walk): Promise<void> {
  const secrets = { '/live': random(), '/test': random() };
  const receiver = await openReceiver(walk.file.prefix, secrets);
  try {
    const webhooks: WebhookWalk = {
      ...walk,
      live: callsOf(walk, 'live'),
      test: callsOf(walk, 'test'),
      receiver,
      secrets,
    };
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
    const removed = await webhooks.live.delete(`/v1/partner/webhooks/${endpoint}`);
    walk.report.check(removed.status === 200 && removed.body.deleted === true, 'it is removed');
    const gone = await webhooks.live.get(`/v1/partner/webhooks/${endpoint}`);
    walk.report.check(gone.status === 404 && gone.body.code === 'not_found', 'and no longer there');
  } finally {
    await receiver.close();
  }
}
