import { beforeAll, describe, expect, it } from 'vitest';
import { testPayment } from '../../core/test/support/partner-api.ts';
import { type OperatorsKit, operatorsKit } from './console-kit.ts';
import { logRequests } from './size-kit.ts';

const hourMs = 3_600_000;

const linkIn = (text: string, words: string): string | null =>
  new RegExp(`<a href="([^"]+)"[^>]*>${words}</a>`).exec(text)?.[1]?.replaceAll('&amp;', '&') ?? null;

describe('the lists of all partners', () => {
  let kit: OperatorsKit;
  let partners: readonly string[];
  /** Endpoint of the first partner to which all its events are delivered. */
  let receiver: string;

  /**
   * Follows the links from page to page of a list. Returns the path, the ids of the objects and the text of
   * the range of each page.
   */
  async function pagesFrom(path: string, pattern: RegExp, words: string) {
    const pages: { readonly path: string; readonly ids: readonly string[]; readonly range: string }[] = [];
    const browser = kit.browser('ana');
    for (let next: string | null = path; next !== null; ) {
      const { status, text } = await browser.get(next);
      expect([next, status]).toEqual([next, 200]);
      const ids = Array.from(text.matchAll(pattern), ([, id = '']) => id);
      const range = /<p class="small muted">(\d[^<]*)<\/p><\/div>/.exec(text)?.[1] ?? '';
      pages.push({ path: next, ids, range });
      next = linkIn(text, words);
    }
    return pages;
  }

  beforeAll(async () => {
    kit = await operatorsKit({ requestLog: 'off' });
    const keys = [await kit.key(), await kit.key()];
    partners = keys.map(({ partner }) => partner);
    for (const [index, key] of keys.entries()) {
      for (let number = 0; number < 30; number += 1)
        await kit.endpoint(key, `/${index}/${number}`, ['kyc.updated']);
      const all = await kit.endpoint(key, '/all');
      if (index === 0) receiver = all;
      for (let number = 0; number < 55; number += 1) {
        kit.provider.clock.advance(1);
        await kit.event(key);
      }
      const idOf = (number: number) => `0000000${index}-0000-4000-8000-${String(number).padStart(12, '0')}`;
      await logRequests(kit.storage, key, 60, idOf);
      for (let number = 0; number < 30; number += 1)
        await kit.provider.partnerCall(key, 'POST /v1/partner/payments', testPayment);
    }
    for (let number = 0; number < 60; number += 1) {
      kit.provider.clock.advance(1);
      await kit.admin.as('eva').audit.record({ action: 'user.block', target: `user:${number}` });
    }
    await kit.attempt({ error: 'status', httpStatus: 503, response: null }, 'retry', 200);
  });

  it.each([
    ['/operators/endpoints?mode=test', /receiver\.example(\/[^<]*)<\/bdi>/g, 62],
    ['/operators/endpoints?mode=test&sort=newest', /partners\/[^"]+\/webhooks\/(we_\w+)\?/g, 62],
    ['/operators/events?mode=test', /<li id="(evt_\w+)"/g, 110],
    ['/operators/events?mode=test&sort=oldest', /<li id="(evt_\w+)"/g, 110],
    ['/operators/requests?mode=test', /<li id="([0-9a-f-]{36})"/g, 120],
    ['/operators/requests?mode=test&sort=oldest', /<li id="([0-9a-f-]{36})"/g, 120],
    ['/operators/failing?mode=test', /(receiver\.example)/g, 2],
    ['/operators/payments?mode=test', /<li id="(tr_\w+)"/g, 60],
    ['/operators/payments?mode=test&sort=oldest', /<li id="(tr_\w+)"/g, 60],
  ])('%s pages both ways and says how many there are', async (path, pattern, count) => {
    const forwards = await pagesFrom(path, pattern, 'Next page');
    const ids = forwards.flatMap((page) => page.ids);
    expect(ids).toHaveLength(count);
    expect(forwards[0]?.range).toBe(`1–${Math.min(50, count)} of ${count}`);
    const back = await pagesFrom(forwards.at(-1)?.path ?? '', pattern, 'Previous page');
    expect(back.toReversed().flatMap((page) => page.ids)).toEqual(ids);
  });

  it('pages through deliveries of an endpoint and acts both ways, with their filters', async () => {
    const [first = ''] = partners;
    const owner = { partner: first, mode: 'test' } as const;
    const { webhooks } = kit.admin;
    const [{ id: eventId } = { id: '' }] = (await webhooks.sortedEvents(owner)).rows;
    for (const [search, count] of [
      [{}, 55],
      [{ endpointId: receiver }, 55],
      [{ endpointId: 'we_other' }, 0],
      [{ eventId }, 1],
      [{ status: 'failing' }, 55],
      [{ status: 'delivered' }, 0],
    ] as const)
      expect([search, await webhooks.countDeliveries(owner, search)]).toEqual([search, count]);
    for (const [path, pattern, count] of [
      [`/operators/partners/${first}/webhooks?mode=test&status=every`, /<li id="(dl_\w+)"/g, 55],
      [
        `/operators/partners/${first}/webhooks?mode=test&status=failing&sort=oldest`,
        /<li id="(dl_\w+)"/g,
        55,
      ],
      ['/operators/audit?actor=eva', /<li id="(aud_\w+)"/g, 60],
      ['/operators/audit?actor=eva&sort=oldest', /<li id="(aud_\w+)"/g, 60],
    ] as const) {
      const forwards = await pagesFrom(path, pattern, 'Next page');
      const ids = forwards.flatMap((page) => page.ids);
      expect([path, ids.length, new Set(ids).size]).toEqual([path, count, count]);
      expect([path, forwards[0]?.range]).toEqual([path, `1–50 of ${count}`]);
      const back = await pagesFrom(forwards.at(-1)?.path ?? '', pattern, 'Previous page');
      expect(back.toReversed().map((page) => page.ids)).toEqual(forwards.map((page) => page.ids));
    }
  });

  it('are narrowed by partner, state and time, and keep that while they page', async () => {
    const browser = kit.browser('ana');
    const [first = ''] = partners;
    const count = async (path: string) => {
      const { status, text } = await browser.get(`/operators/${path}`);
      expect([path, status]).toEqual([path, 200]);
      return /<p class="small muted">\d+–\d+ of (\d+)<\/p>/.exec(text)?.[1] ?? '0';
    };
    expect(await count(`endpoints?mode=test&partner=${first}`)).toBe('31');
    expect(await count('endpoints?mode=test&state=disabled')).toBe('0');
    expect(await count(`events?mode=test&partner=${first}`)).toBe('55');
    expect(await count('events?mode=test&type=webhook.test&state=failing')).toBe('110');
    expect(await count('events?mode=test&type=kyc.updated')).toBe('0');
    expect(await count('events?mode=test&state=delivered')).toBe('0');
    expect(await count('events?mode=test&state=none')).toBe('0');
    expect(await count('events?mode=test&type=%00%22%3E%3Cb%3E&state=__proto__')).toBe('0');
    expect(await count(`failing?mode=test&partner=${first}`)).toBe('1');
    expect(await count(`requests?mode=test&partner=${first}&state=failed`)).toBe('20');
    expect(await count('requests?mode=test&until=1970-01-01T00:00')).toBe('120');
    expect(await count('requests?mode=test&until=1969-12-31T00:00')).toBe('0');
    expect(await count(`payments?mode=test&partner=${first}`)).toBe('30');
    expect(await count('payments?mode=test&state=pending&from=1970-01-01')).toBe('60');
    expect(await count('payments?mode=test&state=completed')).toBe('0');
    expect(await count('payments?mode=test&from=2099-01-01')).toBe('0');
    expect(await count('payments?mode=test&to=1960-01-01')).toBe('0');
    expect(await count('payments?mode=test&to=2099-01-01')).toBe('60');
    expect(await count('payments?mode=test&from=2026-02-31')).toBe('60');
    for (const page of ['endpoints', 'events', 'requests', 'failing', 'payments']) {
      expect(await count(page)).toBe('0');
      expect(await count(`${page}?mode=test&partner=%27%22%3E%3Cb%3E&sort=__proto__`)).toBe('0');
    }
    // An event type that the service no longer has stays chosen.
    const ofOldType = (await browser.get('/operators/events?mode=test&type=order.paid')).text;
    expect(ofOldType).toContain('<option value="order.paid" selected>');
    const { text } = await browser.get(`/operators/requests?mode=test&partner=${first}`);
    const next = linkIn(text, 'Next page') ?? '';
    expect(new URL(next).searchParams.get('partner')).toBe(first);
    expect(new URL(next).searchParams.get('mode')).toBe('test');
    expect(
      await count(
        `events?mode=test&until=${new Date(kit.provider.clock.now() - hourMs).toISOString().slice(0, 16)}`,
      ),
    ).toBe('0');
  });

  it('show the states of deliveries, the last answer, and link to the objects', async () => {
    const browser = kit.browser('ana');
    const [, second = ''] = partners;
    const events = (await browser.get('/operators/events?mode=test')).text;
    expect(events.match(/<span class="state failing">/g)).toHaveLength(50);
    const failing = (await browser.get('/operators/failing?mode=test')).text;
    expect(failing).toContain(`/operators/partners/${second}/webhooks?mode=test&amp;endpoint=`);
    expect(failing).toContain('503');
    expect(failing).toContain('Waiting: 55');
    const requests = (await browser.get('/operators/requests?mode=test')).text;
    const link = linkIn(requests, '<code>POST <bdi>/v1/partner/payments</bdi></code>') ?? '';
    expect((await browser.get(link)).status).toBe(200);
    const payments = (await browser.get('/operators/payments?mode=test')).text;
    const payment = linkIn(payments, '125.00 HTG <span class="hidden">tr_\\w+</span>') ?? '';
    expect((await browser.get(payment)).status).toBe(200);
    for (const section of ['failing', 'endpoints', 'events', 'requests', 'payments'])
      expect(events).toContain(`/operators/${section}?mode=test"`);
  });

  it('refuse places that are none, and a time that is none, without showing it', async () => {
    const browser = kit.browser('ana');
    for (const page of ['failing', 'endpoints', 'events', 'requests', 'payments'])
      for (const name of ['after', 'before'])
        expect((await browser.get(`/operators/${page}?${name}=x`)).status).toBe(400);
    const { status, text } = await browser.get('/operators/events?until=%22%3E%3Cb%3E2030-02-31');
    expect([status, text.includes('"><b>')]).toEqual([400, false]);
    expect(text).toContain('2026-01-31T12:00');
  });

  it('have their filters above the list, folded until one is set', async () => {
    const browser = kit.browser('ana');
    const [first = ''] = partners;
    const pages = [
      ...['failing', 'endpoints', 'events', 'requests', 'payments'].map((page) => `${page}?mode=test`),
      ...['audit?', `partners/${first}/payments?mode=test`],
    ];
    for (const page of pages) {
      const { text } = await browser.get(`/operators/${page}`);
      const [fold, rows] = [text.indexOf('<details id="filters">'), text.indexOf('<ul class="rows">')];
      expect.soft([page, fold > 0 && fold < rows]).toEqual([page, true]);
    }
    for (const page of ['events?partner=x', 'audit?actor=x', `partners/${first}/payments?status=failed`])
      expect((await browser.get(`/operators/${page}`)).text).toContain('<details id="filters" open>');
  });
});

it('lists continue after long names and long URLs', async () => {
  const kit = await operatorsKit({ requestLog: 'off' });
  for (const key of [await kit.key(), await kit.key()])
    for (let number = 0; number < 30; number += 1)
      await kit.endpoint(key, `/${'x'.repeat(1_900)}/${number}`, ['kyc.updated']);
  const name = '国家电网有限公司信息通信分公司'.repeat(6);
  for (let number = 0; number < 60; number += 1)
    await kit.provider.client({ clientId: `client-${number}`, name: `${name} ${number}` });
  const browser = kit.browser('ana');
  for (const [path, pattern, count] of [
    ['/operators/endpoints?mode=test', /\/webhooks\/(we_\w+)/g, 60],
    ['/operators/clients', /\/clients\/(client-\d+)"/g, 60],
  ] as const) {
    const seen = new Set<string>();
    for (let next: string | null = path; next !== null; ) {
      const { status, text } = await browser.get(next);
      expect([path, status]).toEqual([path, 200]);
      for (const [, id = ''] of text.matchAll(pattern)) seen.add(id);
      next = linkIn(text, 'Next page');
    }
    expect([path, seen.size]).toEqual([path, count]);
  }
});
