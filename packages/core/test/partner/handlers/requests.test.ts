import { expect, it } from 'vitest';
import { customConsole } from '../custom-console.ts';

interface Listed {
  readonly data: readonly { readonly id: string }[];
  readonly nextCursor: string | null;
  readonly previousCursor?: string | null;
}

/** Starts a console, signed in with a test key that has made two requests: a good one, then a refused one. */
async function withLog() {
  const { provider, open } = await customConsole({ scope: 'webhooks', testOnly: true });
  const key = await provider.key({ mode: 'test' });
  await provider.partnerCall(key, 'GET /v1/partner/whoami');
  provider.clock.advance(1);
  await provider.partnerCall(key, 'POST /v1/partner/payments', { amount: 'x' });
  const call = await open(key);
  const list = async (query: Record<string, string> = {}, by = call): Promise<Listed> =>
    (await by('listRequests', { query })).json();
  await expect.poll(async () => (await list()).data.length).toBe(2);
  return { provider, open, call, list };
}

it('requests are listed in either order of time, page by page, without their bodies', async () => {
  const { list } = await withLog();
  const { data, nextCursor } = await list();
  expect([data, nextCursor]).toMatchObject([
    [
      { route: '/v1/partner/payments', method: 'POST', status: 400, sent: null, answered: null },
      { route: '/v1/partner/whoami', method: 'GET', status: 200, sent: null, answered: null },
    ],
    null,
  ]);
  const first = await list({ limit: '1' });
  expect(first.data).toEqual(data.slice(0, 1));
  expect(await list({ limit: '1', cursor: first.nextCursor ?? '' })).toEqual({
    data: data.slice(1),
    nextCursor: null,
    previousCursor: expect.any(String),
    count: 2,
  });
  expect(await list({ failed: 'true' })).toMatchObject({ data: data.slice(0, 1), count: 1 });
  const oldest = await list({ order: 'oldest', limit: '1' });
  expect(oldest.data).toEqual(data.slice(1));
  const last = await list({ order: 'oldest', cursor: oldest.nextCursor ?? '' });
  expect(last.data).toEqual(data.slice(0, 1));
  expect(await list({ order: 'oldest', limit: '1', before: last.previousCursor ?? '' })).toEqual(oldest);
});

it('a request is shown with its redacted body, and only to its own partner', async () => {
  const { provider, open, call, list } = await withLog();
  const [refused] = (await list()).data;
  const id = refused?.id ?? '';
  const found = await call('getRequest', { path: { id } });
  const answered = expect.stringContaining('invalid_request');
  expect(await found.json()).toMatchObject({ id, sent: '{"amount":"[removed]"}', answered });
  const stranger = await open(await provider.key({ mode: 'test' }));
  expect((await list({}, stranger)).data).toEqual([]);
  expect((await stranger('getRequest', { path: { id } })).status).toBe(404);
});
