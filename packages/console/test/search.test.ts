import { describe, expect, it } from 'vitest';
import { testPayment } from '../../core/test/support/partner-api.ts';
import { consoleKit, operatorsKit } from './console-kit.ts';
import { logRequests } from './size-kit.ts';

/** Returns the path, query and fragment of a redirect. */
const placeIn = ({ location }: { readonly location: string | null }): string | null =>
  location === null ? null : location.replace(new URL(location).origin, '');

const query = (text: string): string => `q=${encodeURIComponent(text)}`;

/**
 * Creates a partner with a key, an endpoint, an event with its delivery, and a payment. Returns the key, and
 * the ids of the other objects.
 */
async function objects(kit: Awaited<ReturnType<typeof consoleKit>>, name: string) {
  const key = await kit.key();
  const endpoint = await kit.endpoint(key, `/${name}`);
  const event = await kit.event(key);
  const once = { 'Idempotency-Key': name };
  const payment = { ...testPayment, reference: `order-${name}` };
  const paid = await kit.provider.partnerCall(key, 'POST /v1/partner/payments', payment, once);
  const [delivery] = await kit.storage.deliveries.list({
    ...{ partner: key.partner, mode: 'test', status: null, endpointId: null },
    ...{ eventId: event, after: null, limit: 1 },
  });
  return { key, endpoint, event, delivery: delivery?.id ?? '', transfer: String(paid.json().id) };
}

describe('the search of operators', () => {
  it('goes to the only object of every kind, whoever owns it', async () => {
    const kit = await operatorsKit();
    const browser = kit.browser('ana');
    const { key, endpoint, event, delivery, transfer } = await objects(kit, 'one');
    await logRequests(kit.storage, key, 1);
    await kit.admin.partners.create({ slug: 'rapid-13', name: 'Sèvis Rapid 13' });
    await kit.provider.client({ clientId: 'app', name: 'Ti Biznis' });
    const [stored] = await kit.admin.apiKeys.list(key.partner);
    const partner = `/operators/partners/${key.partner}`;
    for (const [text, place] of [
      ['rapid-13', '/operators/partners/rapid-13'],
      ['rapid', '/operators/partners/rapid-13'],
      ['  SEVIS   rapid ', '/operators/partners/rapid-13'],
      ['app', '/operators/clients/app'],
      ['ti biz', '/operators/clients/app'],
      [key.id, `${partner}/keys/${key.id}`],
      [stored?.start ?? '', `${partner}/keys/${key.id}`],
      [`${stored?.start}…`, `${partner}/keys/${key.id}`],
      [endpoint, `${partner}/webhooks/${endpoint}?mode=test`],
      [event, `${partner}/webhooks?mode=test&status=every&event=${event}`],
      [delivery, `${partner}/webhooks?mode=test&status=every&event=${event}#${delivery}`],
      [transfer, `${partner}/payments/${transfer}?mode=test`],
      ['request-0', `${partner}/requests/request-0?mode=test`],
    ] as const) {
      const found = await browser.get(`/operators/search?${query(text)}`);
      expect([text, found.status, placeIn(found)]).toEqual([text, 303, place]);
      expect((await browser.get(place)).status).toBe(200);
    }
  });

  it('lists several objects, and says when there is none', async () => {
    const kit = await operatorsKit();
    const browser = kit.browser('ana');
    for (const number of [1, 2]) {
      await kit.admin.partners.create({ slug: `kafe-${number}`, name: `Kafe ${number}` });
      await kit.provider.client({ clientId: `kafe-app-${number}`, name: `Kafe ${number}` });
    }
    const several = await browser.get(`/operators/search?${query('kafe')}`);
    expect(several.status).toBe(200);
    expect(several.text.match(/<li><p class="what">/g)).toHaveLength(4);
    const none = await browser.get(`/operators/search?${query('<b>nobody</b>')}`);
    expect(none.text).toContain(
      'Nothing was found for <strong><bdi>&lt;b&gt;nobody&lt;/b&gt;</bdi></strong>.',
    );
    for (const text of ['', ' ', '%00', '\u0000', '%', '_', "'", '\ud800', 'x'.repeat(5_000)])
      expect((await browser.get(`/operators/search?${query(text.toWellFormed())}`)).status).toBe(200);
  });

  it('refuses secrets, and does not repeat them', async () => {
    const kit = await operatorsKit();
    const browser = kit.browser('ana');
    const key = await kit.key();
    for (const secret of [
      ...[key.key, key.key.slice(0, 20), `my key is ${key.key}`, 'svc_at_abc', 'svc_rt_abc', 'svc_sign_abc'],
      ...['whsec_0123456789abcdef', 'eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0.'],
    ]) {
      const { status, text } = await browser.get(`/operators/search?${query(secret)}`);
      expect([status, text.includes('This looks like a secret')]).toEqual([400, true]);
      expect(text).not.toContain(secret);
    }
  });
});

describe('the search of a partner', () => {
  it('finds its own test data, and says nothing of other partners and of live mode', async () => {
    const kit = await consoleKit();
    const [mine, others] = [await objects(kit, 'mine'), await objects(kit, 'others')];
    await logRequests(kit.storage, mine.key, 1);
    const live = await kit.provider.key({ mode: 'live', partner: mine.key.partner });
    const liveEndpoint = await kit.endpoint(live, '/live');
    const browser = await kit.signedIn(mine.key);
    // References may begin like ids.
    const references = ['tr_2026_001', 'we_1', 'evt_1', 'dl_1'];
    const named: [string, string][] = [];
    for (const reference of references) {
      const payment = { ...testPayment, reference };
      const paid = await kit.provider.partnerCall(mine.key, 'POST /v1/partner/payments', payment);
      named.push([reference, `/sandbox/payments/${paid.json().id}`]);
    }
    for (const [text, place] of [
      ...named,
      [mine.event, `/sandbox/events/${mine.event}`],
      [` ${mine.endpoint} `, `/sandbox/endpoints/${mine.endpoint}`],
      [mine.delivery, `/sandbox/events/${mine.event}#${mine.delivery}`],
      [mine.transfer, `/sandbox/payments/${mine.transfer}`],
      ['order-mine', `/sandbox/payments/${mine.transfer}`],
      ['request-0', '/sandbox/requests/request-0'],
    ] as const) {
      const found = await browser.get(`/sandbox/search?${query(text)}`);
      expect([text, found.status, placeIn(found)]).toEqual([text, 303, place]);
    }
    const strange = [
      ...[others.event, others.endpoint, others.delivery, others.transfer, 'order-others', liveEndpoint],
      ...[others.key.partner, others.key.id, mine.key.id, 'nothing', '%', '\u0000'],
    ];
    for (const text of strange) {
      const found = await browser.get(`/sandbox/search?${query(text)}`);
      expect([text, [200, 400].includes(found.status), found.location]).toEqual([text, true, null]);
      expect(found.text).not.toMatch(/href="[^"]*(?:evt_|we_|tr_|dl_)/);
    }
    const secret = await browser.get(`/sandbox/search?${query(mine.key.key)}`);
    expect([secret.status, secret.text.includes(mine.key.key)]).toEqual([400, false]);
    const stranger = kit.provider.browser(null);
    expect((await stranger.get(`/sandbox/search?${query(mine.event)}`)).location).toContain('/sandbox');
  });
});
