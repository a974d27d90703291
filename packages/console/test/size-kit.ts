import type { Owner, Storage } from '@ostiary/core/storage';
import { payment, testPayment } from '../../core/test/support/partner-api.ts';
import type { TestKey } from '../../core/test/support/provider.ts';
import { csrfOf, operatorsKit } from './console-kit.ts';
import { watchedConsoles } from './page-tables.ts';

/**
 * Creates one object of each kind that the pages of both consoles show. Returns one URL of each page, by the
 * page's route.
 */
export async function consolesOver(storage: Storage) {
  const { console, pages, shown } = watchedConsoles();
  const kit = await operatorsKit(
    { console, operators: { authenticate: () => ({ name: 'ana' }), pages }, requestLog: 'off' },
    storage,
  );
  const key = await kit.key();
  const owner = { partner: key.partner, mode: 'test' } as const;
  const endpoint = await kit.endpoint(key);
  const event = await kit.event(key);
  await kit.attempt({ error: 'timeout', httpStatus: null, response: 'busy' }, 'dropped');
  const once = { 'Idempotency-Key': 'size' };
  const paid = await kit.provider.partnerCall(key, 'POST /v1/partner/payments', testPayment, once);
  await kit.provider.client({ clientId: 'app' });
  const request = 'request-0';
  await logRequests(storage, key, 1);
  const [delivery] = await storage.deliveries.list({
    ...owner,
    ...{ status: null, endpointId: null, eventId: event, after: null, limit: 1 },
  });
  const [ofEvent, ofEndpoint] = [`/sandbox/events/${event}`, `/sandbox/endpoints/${endpoint}`];
  const registration = { url: 'inbox:200', events: ['webhook.test'], secret: 'whsec_0123456789abcdef' };
  const inbox = (await kit.provider.partnerCall(key, 'POST /v1/partner/webhooks', registration)).json().id;
  const arrived = {
    ...{ id: `in_${'0'.repeat(32)}`, ...owner, endpointId: String(inbox), receivedAt: 1, headers: [] },
    ...{ body: '{"type":"webhook.test"}', signatureError: null, answer: null },
  };
  await storage.inbox.add(arrived, 50);
  const live = await liveObjects(kit, key.partner);
  const partner = `/operators/partners/${key.partner}`;
  const addresses: Readonly<Record<string, string>> = {
    '/sandbox': '/sandbox',
    '/sandbox/trigger': '/sandbox/trigger?type=kyc.updated',
    '/sandbox/events/:id': ofEvent,
    '/sandbox/deliveries/:id/answer': `/sandbox/deliveries/${delivery?.id}/answer?attempt=1`,
    '/sandbox/endpoints': '/sandbox/endpoints',
    '/sandbox/endpoints/:id': ofEndpoint,
    '/sandbox/endpoints/:id/edit': `${ofEndpoint}/edit`,
    '/sandbox/endpoints/:id/secret': `${ofEndpoint}/secret`,
    '/sandbox/endpoints/:id/receiver': `${ofEndpoint}/receiver`,
    '/sandbox/endpoints/:id/inbox': `/sandbox/endpoints/${inbox}/inbox`,
    '/sandbox/inbox/:id': `/sandbox/inbox/${arrived.id}`,
    '/sandbox/search': '/sandbox/search?q=nothing',
    '/sandbox/requests': '/sandbox/requests',
    '/sandbox/requests/:id': `/sandbox/requests/${request}`,
    '/sandbox/live.js': '/sandbox/live.js',
    '/sandbox/style.css': '/sandbox/style.css',
    '/sandbox/button': '/sandbox/button',
    '/sandbox/button.svg': '/sandbox/button.svg?scheme=dark&lang=fr',
    '/sandbox/tools': '/sandbox/tools',
    '/sandbox/payments': '/sandbox/payments?status=completed',
    '/sandbox/payments/:id': `/sandbox/payments/${paid.json().id}`,
    '/sandbox/reconciliation': '/sandbox/reconciliation?day=2026-01-01',
    '/sandbox/payment-file': '/sandbox/payment-file?format=csv&from=2026-01-01&to=2026-01-01',
    ...live.addresses,
    '/operators': '/operators',
    '/operators/partners': '/operators/partners',
    '/operators/partners/:slug': partner,
    '/operators/partners/:slug/keys': `${partner}/keys`,
    '/operators/partners/:slug/keys/:id': `${partner}/keys/${key.id}`,
    '/operators/partners/:slug/webhooks': `${partner}/webhooks?mode=test&status=every`,
    '/operators/partners/:slug/webhooks/:id': `${partner}/webhooks/${endpoint}?mode=test`,
    '/operators/partners/:slug/requests/:id': `${partner}/requests/${request}?mode=test`,
    '/operators/partners/:slug/payments': `${partner}/payments?mode=test`,
    '/operators/partners/:slug/reconciliation': `${partner}/reconciliation?mode=test`,
    '/operators/partners/:slug/payment-file': `${partner}/payment-file?mode=test&format=csv&from=2026-01-01&to=2026-01-01`,
    '/operators/partners/:slug/payments/:id': `${partner}/payments/${paid.json().id}?mode=test`,
    '/operators/keys': '/operators/keys',
    '/operators/failing': '/operators/failing?mode=test',
    '/operators/endpoints': '/operators/endpoints?mode=test',
    '/operators/events': '/operators/events?mode=test',
    '/operators/requests': '/operators/requests?mode=test',
    '/operators/payments': '/operators/payments?mode=test',
    '/operators/search': '/operators/search?q=nothing',
    '/operators/script.js': '/operators/script.js',
    '/operators/style.css': '/operators/style.css',
    '/operators/clients': '/operators/clients',
    '/operators/new-client': '/operators/new-client',
    '/operators/clients/:id': '/operators/clients/app',
    '/operators/users': '/operators/users',
    '/operators/user': '/operators/user?sub=u-1',
    '/operators/audit': '/operators/audit',
    '/operators/signing-keys': '/operators/signing-keys',
    '/operators/upkeep': '/operators/upkeep',
  };
  const browser = await kit.signedIn(key);
  const link = new URL((await kit.admin.portal.link({ partner: key.partner, rights: 'manage' })).url);
  await browser.post(link.pathname, { csrf: csrfOf((await browser.get(link.pathname)).text) });
  return { kit, key, owner, endpoint, live: live.key, paths: shown(), addresses, browser };
}

/** Creates live objects of a partner. Returns its live key, and a URL of each page of the live portal by its route. */
async function liveObjects(kit: Awaited<ReturnType<typeof operatorsKit>>, partner: string) {
  const { admin, provider, storage } = kit;
  const key = await provider.key({ partner, mode: 'live' });
  const owner = { partner, mode: 'live' } as const;
  const endpoint = await kit.endpoint(key);
  await fill({ kit, key, owner }, { events: 1, endpoints: 1, others: 0 });
  const paid = await provider.partnerCall(key, 'POST /v1/partner/payments', payment);
  await logRequests(storage, key, 1, () => 'live-request');
  const [delivery] = await storage.deliveries.list({
    ...owner,
    ...{ status: null, endpointId: null, eventId: null, after: null, limit: 1 },
  });
  const link = new URL((await admin.portal.link({ partner, rights: 'view' })).url);
  const addresses: Readonly<Record<string, string>> = {
    '/portal': '/portal',
    '/portal/open/:link': link.pathname,
    '/portal/events/:id': `/portal/events/${delivery?.eventId}`,
    '/portal/deliveries/:id/answer': `/portal/deliveries/${delivery?.id}/answer?attempt=1`,
    '/portal/endpoints': '/portal/endpoints',
    '/portal/endpoints/:id': `/portal/endpoints/${endpoint}`,
    '/portal/endpoints/:id/edit': `/portal/endpoints/${endpoint}/edit`,
    '/portal/endpoints/:id/secret': `/portal/endpoints/${endpoint}/secret`,
    '/portal/search': '/portal/search?q=nothing',
    '/portal/requests': '/portal/requests',
    '/portal/requests/:id': '/portal/requests/live-request',
    '/portal/payments': '/portal/payments',
    '/portal/payments/:id': `/portal/payments/${paid.json().id}`,
    '/portal/reconciliation': '/portal/reconciliation?day=2026-01-01',
    '/portal/payment-file': '/portal/payment-file?format=csv&from=2026-01-01&to=2026-01-01',
    '/portal/live.js': '/portal/live.js',
    '/portal/style.css': '/portal/style.css',
  };
  return { key, addresses };
}

/** Stores numbered requests of an API key in the log of API requests. The first and every third one failed. */
export async function logRequests(
  storage: Storage,
  {
    partner,
    id,
    mode = 'test',
  }: { readonly partner: string; readonly id: string; readonly mode?: 'live' | 'test' },
  count: number,
  idOf = (number: number): string => `request-${number}`,
): Promise<void> {
  const requests = Array.from({ length: count }, (_, number) => ({
    ...({
      id: idOf(number),
      partner,
      mode,
      keyId: id,
      createdAt: number + 1,
      durationMs: 3,
    } as const),
    ...{
      method: 'POST',
      route: '/v1/partner/payments',
      sent: '{"amount":"1.00"}',
      answered: '{"id":"tr_1"}',
    },
    ...(number % 3 === 0 ? { status: 400, code: 'invalid_request' } : { status: 201, code: null }),
  }));
  await storage.requestLog.append(requests, 1_000);
}

/**
 * Publishes the given number of events to endpoints that subscribe to all types, and stores an attempt of each
 * delivery: of three batches, the first is dropped, and the others are delivered. Fills the other lists, too.
 */
export async function fill(
  {
    kit,
    key,
    owner,
  }: {
    readonly kit: Awaited<ReturnType<typeof operatorsKit>>;
    readonly key: TestKey;
    readonly owner: Owner;
  },
  {
    events,
    endpoints,
    others,
  }: { readonly events: number; readonly endpoints: number; readonly others: number },
): Promise<void> {
  const { storage, admin, provider } = kit;
  for (let number = 1; number < endpoints; number += 1) await kit.endpoint(key, `/${number}`);
  for (let number = 0; number < others; number += 1) {
    await provider.key({ partner: key.partner, mode: 'test' });
    await admin.partners.create({ slug: `other-${number}`, name: 'Other' });
    await provider.client();
  }
  for (let first = 0; first < events; first += 1_000) {
    const now = provider.clock.now();
    const body = (id: string) =>
      JSON.stringify({
        id,
        type: 'payment.completed',
        createdAt: new Date(now).toISOString(),
        data: { amount: '1.00' },
      });
    const batch = Array.from({ length: Math.min(1_000, events - first) }, (_, index) => {
      const number = `${now}${String(index).padStart(32 - String(now).length, '0')}`;
      const id = `evt_${number}`;
      return {
        ...owner,
        id,
        type: 'payment.completed',
        body: body(id),
        createdAt: now,
        deliveryId: `dl_${number}`,
      };
    });
    await storage.events.publish(batch, { idempotency: null, now });
    while ((await kit.attempt({}, first % 3_000 === 0 ? 'dropped' : 'delivered', 1_000)) > 0);
    provider.clock.advance(1_000);
  }
}
