import { memoryStorage } from '@ostiary/testing/memory';
import { expect, it, onTestFinished, vi } from 'vitest';
import { patient } from '../../../../lab/support/patient.ts';
import type { Core } from '../../src/options/context.ts';
import { systemRandom } from '../../src/secrets/random.ts';
import type { WebhookClient } from '../../src/webhooks/http-client.ts';
import { withInboxes } from '../../src/webhooks/inbox.ts';
import { listenersOf } from '../../src/webhooks/listeners.ts';
import { TestClock } from '../support/provider.ts';

const owner = { partner: 'acme', mode: 'test' } as const;
const everything = { bytes: 0, before: Number.MAX_SAFE_INTEGER, limit: 100 };

/** Starts inboxes in front of an HTTP client that counts its calls. */
async function scene() {
  const storage = memoryStorage();
  await storage.open();
  const clock = new TestClock();
  const core = { storage, clock, random: systemRandom, options: { prefix: 'svc' } } as unknown as Core;
  const answer = { ok: true, httpStatus: 204, error: null, response: '', durationMs: 1 };
  const http = {
    post: vi.fn<WebhookClient['post']>(async () => answer),
    abort: vi.fn<WebhookClient['abort']>(),
    close: vi.fn<WebhookClient['close']>(async () => undefined),
  };
  const listeners = listenersOf({ storage, clock });
  const client = withInboxes(core, http, listeners);
  const endpoint = { ...owner, id: 'we_a', secret: 'whsec_0123456789abcdef' };
  const post = (url: string, changes: Partial<typeof endpoint> | { mode: 'live' } | null = {}) =>
    client.post({
      ...{ url, headers: {}, body: '{}', owner: 'test:acme' },
      ...(changes !== null && { endpoint: { ...endpoint, ...changes } }),
    });
  const stored = () => storage.inbox.list({ ...owner, endpointId: 'we_a', limit: 50 });
  return { storage, http, answer, listeners, client, post, stored };
}

/** Starts a delivery attempt that waits for the response of its inbox. */
async function waiting(url: 'inbox:listen' | 'inbox:timeout') {
  const made = await scene();
  await made.listeners.called('we_a', null);
  const attempt = made.post(url);
  await vi.waitFor(async () => expect(await made.stored()).toHaveLength(1), patient);
  return { ...made, attempt };
}

it('requests to other URLs, and those that belong to no endpoint, are sent', async () => {
  const { http, answer, post, stored } = await scene();
  expect(await post('https://acme.example/hook')).toBe(answer);
  expect(await post('inbox:200', null)).toBe(answer);
  expect(http.post).toHaveBeenCalledTimes(2);
  expect(await stored()).toEqual([]);
});

it('a live endpoint and an unknown inbox receive nothing', async () => {
  const { http, post, stored } = await scene();
  const refused = { ok: false, error: 'target_refused', httpStatus: null, durationMs: 0 };
  expect(await post('inbox:200', { mode: 'live' })).toMatchObject(refused);
  expect(await post('inbox:201')).toMatchObject(refused);
  expect(http.post).not.toHaveBeenCalled();
  expect(await stored()).toEqual([]);
});

it('a request without a signature is kept and refused, also by an inbox that fails', async () => {
  const { post, stored } = await scene();
  const response = 'The signature is wrong.';
  for (const url of ['inbox:200', 'inbox:500'])
    expect(await post(url)).toMatchObject({ error: 'status', httpStatus: 400, response });
  const kept = { body: '{}', signatureError: expect.any(String), answer: { httpStatus: 400 } };
  expect(await stored()).toMatchObject([kept, kept]);
});

it('an attempt whose request is removed before its listener answers ends like a lost connection', async () => {
  const { storage, attempt } = await waiting('inbox:listen');
  await storage.inbox.removeOldest({ ...owner, ...everything, rows: 0 });
  expect(await attempt).toMatchObject({ ok: false, error: 'connection_reset', httpStatus: null });
});

it.each(['inbox:listen', 'inbox:timeout'] as const)(
  'aborting ends attempts that wait at %s, and later attempts are possible',
  async (url) => {
    const { storage, http, client, attempt, post } = await waiting(url);
    client.abort();
    expect(await attempt).toMatchObject({ ok: false, error: 'aborted' });
    expect(http.abort).toHaveBeenCalledTimes(1);
    await storage.inbox.removeOldest({ ...owner, ...everything, rows: 0 });
    const later = post('inbox:listen');
    const take = () => storage.inbox.take({ ...owner, endpointId: 'we_a', since: 0, limit: 1 });
    const id = await vi.waitUntil(async () => (await take())[0]?.id, patient);
    await storage.inbox.answer(owner, id, { httpStatus: 200, error: null, response: '' });
    expect(await later).toMatchObject({ ok: true, httpStatus: 200 });
  },
);

const success = { httpStatus: 200, error: null, response: '' };

it.each(['timeout', 'aborted'] as const)(
  'a response does not count after the attempt ended with %s, whether its request was taken before or not',
  async (error) => {
    const { storage, client, attempt, post, stored } = await waiting('inbox:listen');
    const take = () => storage.inbox.take({ ...owner, endpointId: 'we_a', since: 0, limit: 5 });
    const [taken] = await take();
    const other = post('inbox:listen');
    await vi.waitFor(async () => expect(await stored()).toHaveLength(2), patient);
    if (error === 'aborted') client.abort();
    else {
      const later = performance.now() + 60_000;
      vi.spyOn(performance, 'now').mockReturnValue(later);
      onTestFinished(() => void vi.restoreAllMocks());
    }
    const result = { ok: false, error, httpStatus: null };
    expect(await Promise.all([attempt, other])).toMatchObject([result, result]);
    expect(await storage.inbox.answer(owner, taken?.id ?? '', success)).toBe(false);
    expect(await take()).toEqual([]);
    expect(await stored()).toMatchObject([{ answer: { error } }, { answer: { error } }]);
  },
);

it('a response that arrives while the attempt ends is its result', async () => {
  const { storage, client, attempt } = await waiting('inbox:listen');
  const [taken] = await storage.inbox.take({ ...owner, endpointId: 'we_a', since: 0, limit: 1 });
  const { end } = storage.inbox;
  vi.spyOn(storage.inbox, 'end').mockImplementation(async (...ending) => {
    expect(await storage.inbox.answer(owner, taken?.id ?? '', success)).toBe(true);
    return end(...ending);
  });
  client.abort();
  expect(await attempt).toMatchObject({ ok: true, httpStatus: 200 });
});

it('closing ends running and later attempts, and closes the HTTP client', async () => {
  const { http, client, attempt, post, stored } = await waiting('inbox:timeout');
  await client.close();
  expect(await attempt).toMatchObject({ error: 'aborted' });
  expect(await post('inbox:200')).toMatchObject({ error: 'aborted', durationMs: 0 });
  expect(http.close).toHaveBeenCalledTimes(1);
  expect(await stored()).toHaveLength(1);
});
