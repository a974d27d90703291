import { describe, expect, it } from 'vitest';
import { act, consoleKit, csrfOf, visited } from './console-kit.ts';

const actions = (event: string, endpoint: string): [string, Record<string, string>][] => [
  ['/sandbox/trigger', { type: 'webhook.test', step: 'send' }],
  [`/sandbox/events/${event}/redeliver`, {}],
  ['/sandbox/endpoints', { url: 'https://evil.example/', secret: 'a secret of this test', 'type *': 'on' }],
  [`/sandbox/endpoints/${endpoint}`, { action: 'remove' }],
  ['/sandbox/inboxes', {}],
  ['/sandbox/tools/passport', { kid: 'KID-TEST-APPROVED', state: 'valid' }],
  [
    '/sandbox/tools/payment',
    { outcome: 'completed', amount: '1', currency: 'HTG', kid: 'KID-TEST-APPROVED', once: 'form' },
  ],
  ['/sandbox/tools/kyc', { kid: 'KID-TEST-APPROVED', status: 'rejected', once: 'other' }],
  ['/sandbox/first-run', {}],
  ['/sandbox/sign-out', {}],
];

describe('data that a partner cannot see', () => {
  it('includes all data of other partners, and its own live data', async () => {
    const kit = await consoleKit();
    const mine = await kit.key();
    const others = await kit.key();
    const live = await kit.provider.key({ mode: 'live', partner: mine.partner });
    const browser = await kit.signedIn(mine);
    const hidden: string[] = [];
    for (const key of [others, live]) {
      const endpoint = await kit.endpoint(key, `/of-${key.mode}-${key.partner}`);
      const event =
        key === live
          ? (
              await kit.provider.partnerCall(key, 'POST /v1/partner/payments', {
                amount: '1.00',
                currency: 'HTG',
                recipient: { kid: 'KID-ANA' },
              })
            ).json().id
          : await kit.event(key);
      hidden.push(endpoint, String(event), `/of-${key.mode}-${key.partner}`);
      expect((await browser.get(`/sandbox/endpoints/${endpoint}`)).status).toBe(404);
      expect((await browser.get(`/sandbox/events/${event}`)).status).toBe(404);
      for (const action of ['disable', 'remove']) {
        expect((await act(browser, `/sandbox/endpoints/${endpoint}`, { action })).status).toBe(404);
      }
      expect((await act(browser, `/sandbox/events/${event}/redeliver`, {})).status).toBe(404);
      const own = await kit.event(mine);
      const strange = await act(browser, `/sandbox/events/${own}/redeliver`, { endpoint });
      expect(strange.location).toContain('notice=gone');
      const owner = { partner: key.partner, mode: key.mode };
      expect((await kit.storage.webhooks.find(owner, endpoint))?.enabled).toBe(true);
    }
    const { text } = await browser.get('/sandbox');
    for (const part of [...hidden, others.partner]) expect(text).not.toContain(part);
    expect(text).toContain('webhook.test');
  });
});

describe('a forged form', () => {
  it('changes nothing: without its proof, with that of another session, or from another site', async () => {
    const { kit, key, browser } = await visited();
    const endpoint = await kit.endpoint(key);
    const event = await kit.event(key);
    await kit.attempt({});
    const genuine = csrfOf((await browser.get('/sandbox')).text);
    const sameKey = csrfOf((await (await kit.signedIn(key)).get('/sandbox')).text);
    const otherKey = csrfOf((await (await kit.signedIn(await kit.key())).get('/sandbox')).text);
    const signInForm = csrfOf((await kit.provider.browser(null).get('/sandbox')).text);
    const attacks: [string, Record<string, string>, Record<string, string>][] = [
      ...[undefined, '', `${genuine}x`, sameKey, otherKey, signInForm].map(
        (csrf): [string, Record<string, string>, Record<string, string>] => [
          String(csrf),
          csrf === undefined ? {} : { csrf },
          {},
        ],
      ),
      ['origin', { csrf: genuine }, { origin: 'https://evil.example' }],
      ['null', { csrf: genuine }, { origin: 'null', 'sec-fetch-site': 'same-site' }],
      ['site', { csrf: genuine }, { 'sec-fetch-site': 'same-site' }],
    ];
    for (const [path, form] of actions(event, endpoint)) {
      for (const [name, proof, headers] of attacks) {
        const answer = await browser.post(path, { ...form, ...proof }, headers);
        expect.soft([path, name, answer.status]).toEqual([path, name, 403]);
      }
      const asGet = await browser.get(`${path}?${new URLSearchParams({ ...form, csrf: genuine })}`);
      expect.soft([path, asGet.status === 303]).toEqual([path, false]);
    }
    const owner = { partner: key.partner, mode: 'test' } as const;
    expect(await kit.storage.webhooks.list(owner)).toHaveLength(1);
    expect((await kit.storage.events.list({ ...owner, after: 0, limit: 10 })).events).toHaveLength(1);
    const all = { status: null, reference: null, from: null, to: null, after: null, limit: 10 };
    expect(await kit.storage.transfers.list({ ...owner, ...all })).toEqual([]);
    expect(await kit.attempt({})).toBe(0);
    expect((await browser.get('/sandbox/endpoints')).status).toBe(200);
    for (const [path, form] of actions(event, endpoint)) {
      const { status } = await browser.post(path, { ...form, csrf: genuine });
      // The response to the passport form shows the passport. All other forms redirect.
      expect.soft([path, status]).toEqual([path, path.endsWith('/passport') ? 200 : 303]);
    }
  });
});
