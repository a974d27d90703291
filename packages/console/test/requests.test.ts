import { expect, it } from 'vitest';
import { type consoleKit, visited } from './console-kit.ts';

type Kit = Awaited<ReturnType<typeof consoleKit>>;

/** Waits until a partner's log has this many requests: they are logged after their responses. */
async function stored({ storage }: Kit, partner: string, count: number) {
  const filter = { partner, mode: 'test', failed: false, after: null, limit: 100 } as const;
  await expect.poll(async () => (await storage.requestLog.list(filter)).length).toBe(count);
  return storage.requestLog.list(filter);
}

it('requests of test keys are listed, with filters and pages', async () => {
  const { kit, key, browser } = await visited();
  const page = async (query = '') => (await browser.get(`/sandbox/requests${query}`)).text;
  expect(await page()).toContain('No requests yet');
  for (let number = 0; number < 51; number += 1) {
    kit.provider.clock.advance(1);
    await kit.provider.partnerCall(key, 'GET /v1/partner/whoami');
  }
  kit.provider.clock.advance(1);
  await kit.provider.partnerCall(key, 'POST /v1/partner/payments', { amount: 'x' });
  const all = await stored(kit, key.partner, 52);
  const first = await page();
  expect(first).toMatch(/POST [^\n]*\/v1\/partner\/payments[^\n]*invalid_request/);
  expect(first.match(/<li id=/g)).toHaveLength(50);
  const older = /href="[^"]*(\?[^"]+)">Next page/.exec(first)?.[1]?.replaceAll('&amp;', '&') ?? '';
  expect((await page(older)).match(/<li id=/g)).toHaveLength(2);
  const failed = await page('?only=failed');
  expect(failed.match(/<li id=/g)).toHaveLength(1);
  expect(failed).toContain(all[0]?.id);
});

it('a request is shown with its result, its body and its response, and is found by its id', async () => {
  const { kit, key, browser } = await visited();
  const sent = { amount: '<b>1</b>', currency: 'HTG', recipient: { phone: '+50937000001' } };
  const answer = await kit.provider.partnerCall(key, 'POST /v1/partner/payments', sent);
  const { requestId } = answer.json();
  await stored(kit, key.partner, 1);
  const found = await browser.get(`/sandbox/requests?id=%20${requestId}`);
  expect([found.status, found.location]).toEqual([303, expect.stringMatching(new RegExp(`/${requestId}$`))]);
  const { text } = await browser.get(found.location ?? '');
  for (const part of ['invalid_request', requestId, key.id, '&quot;[removed]&quot;', 'has to be'])
    expect(text).toContain(part);
  for (const part of ['<b>1', '+50937000001']) expect(text).not.toContain(part);
  // Without an id, the page lists the requests.
  const list = await browser.get('/sandbox/requests');
  expect(list.text).toContain(requestId);
  const missing = await browser.get('/sandbox/requests?id=%3Cb%3E');
  expect([missing.status, missing.text]).toEqual([404, expect.stringContaining('There is no request')]);
  expect(missing.text).toContain('value="&lt;b&gt;"');
});

it('requests of others, and of live keys, are not shown', async () => {
  const { kit, key, browser } = await visited({ requestLog: 'all' });
  const others = [await kit.key(), await kit.provider.key({ partner: key.partner })];
  const ids = [];
  for (const other of others) {
    const { headers } = await kit.provider.partnerCall(other, 'GET /v1/partner/whoami');
    ids.push(String(headers.get('x-request-id')));
  }
  await stored(kit, others[0]?.partner ?? '', 1);
  expect((await browser.get('/sandbox/requests')).text).toContain('No requests yet');
  for (const id of ids) expect((await browser.get(`/sandbox/requests/${id}`)).status).toBe(404);
});

it('the first page links to the log, unless nothing is logged', async () => {
  const linked = async (requestLog: 'off' | 'test') =>
    (await (await visited({ requestLog })).browser.get('/sandbox')).text.includes('/sandbox/requests');
  expect([await linked('test'), await linked('off')]).toEqual([true, false]);
});
