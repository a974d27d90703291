import { expect, it } from 'vitest';
import type { Notice, Notify } from '../../src/index.ts';
import { answering, shop } from '../partner/webhook-shop.ts';
import { storages } from '../support/partner-api.ts';

const [minute, hour] = [60_000, 3_600_000];
const day = 24 * hour;

/**
 * Starts a provider that collects notices, and a partner with an endpoint that a test can make fail.
 * @param instead - is called with notices instead; `null` leaves the option out
 */
async function scene(options: Parameters<typeof shop>[0] = {}, instead?: Notify | null) {
  const notices: Notice[] = [];
  const notify: Notify | null = instead === undefined ? (notice) => void notices.push(notice) : instead;
  const webhooks = { retryDelaysSeconds: [7_000] };
  const given = await shop({ webhooks, ...options, ...(notify !== null && { notify }) });
  const { provider } = given;
  const endpoint = await answering(500);
  return {
    ...{ ...given, endpoint },
    answer: (status: number) => {
      endpoint.answer = (response) => void response.writeHead(status).end();
    },
    /** Runs all due work, and returns the notices that this work made. */
    async news(advanceMs = 0): Promise<Notice[]> {
      provider.clock.advance(advanceMs);
      while ((await provider.ostiary.worker.runDue()) > 0);
      return notices.splice(0);
    },
    /**
     * Returns the jobs of notices, including jobs that no worker can claim yet. Afterwards no worker can
     * claim the returned jobs.
     */
    jobs: async () => {
      const claim = { claimId: 'look', now: provider.clock.now() + 99 * day, leaseMs: 0, limit: 100 };
      const kinds = ['notice', 'notice search'];
      return given.database.storage.queue.claim({ ...claim, kinds });
    },
  };
}

it.each(storages)(
  'an endpoint that fails for an hour, is given up, and works again is noticed once each, on %s',
  async (_, storage) => {
    const { provider, key, endpoint, register, trigger, answer, news } = await scene({ storage: storage() });
    const id = await register(`${endpoint.url}?token=secret`);
    await trigger();
    await trigger();
    const since = new Date(provider.clock.now()).toISOString();
    expect(await news()).toEqual([]);
    expect(await news(hour - 1)).toEqual([]);
    const of = {
      partner: key.partner,
      partnerName: `The partner ${key.partner}`,
      mode: 'test',
      endpointId: id,
      host: '127.0.0.1',
    };
    const lastFailure = { at: since, httpStatus: 500, error: 'status' };
    const found = { ...of, id: expect.any(String), at: expect.any(String), lastFailure };
    expect(await news(minute)).toEqual([{ ...found, type: 'endpoint.failing', since }]);
    expect(await news(minute)).toEqual([]);

    // The second attempt is the last one, of both deliveries.
    await news(hour);
    expect(await news(minute)).toMatchObject([{ ...of, type: 'endpoint.given_up' }]);
    await trigger();
    await news();
    await news(2 * hour);
    expect(await news(minute)).toEqual([]);

    answer(200);
    await trigger();
    await news();
    expect(await news(3 * minute)).toEqual([]);
    expect(await news(2 * minute)).toMatchObject([{ ...of, type: 'endpoint.works' }]);
    expect(await news(hour)).toEqual([]);

    answer(500);
    await trigger();
    await news();
    expect(await news(hour + minute)).toMatchObject([{ ...of, type: 'endpoint.failing' }]);
  },
);

it('an API key is noticed 14 days before it ends, unless it was revoked', async () => {
  const { provider, key, news } = await scene();
  const { apiKeys } = provider.ostiary.admin;
  const expiresAt = new Date(provider.clock.now() + 20 * day);
  const issued = { partner: key.partner, mode: 'live' as const, scopes: ['webhooks' as const] };
  const { apiKey } = await apiKeys.issue({ ...issued, name: 'Till', expiresAt });
  const revoked = await apiKeys.issue({ ...issued, name: 'Revoked', expiresAt });
  await apiKeys.revoke(revoked.apiKey.id);
  expect(await news(6 * day - 1)).toEqual([]);
  expect(await news(minute)).toEqual([
    {
      ...{ id: `api_key.ending:${apiKey.id}`, type: 'api_key.ending', at: expect.any(String) },
      ...{ partner: key.partner, partnerName: expect.any(String), mode: 'live' },
      ...{ keyId: apiKey.id, keyName: 'Till', expiresAt: expiresAt.toISOString() },
    },
  ]);
  expect(await news(day)).toEqual([]);
});

it('an app is noticed when a user connects it, again after its removal, and never with a secret', async () => {
  const { provider, news } = await scene();
  const client = await provider.client({ name: 'Kafe' });
  const token = await provider.token(client);
  const [notice, ...others] = await news();
  expect(others).toEqual([]);
  expect(notice).toEqual({
    ...{
      id: expect.stringMatching(/^app\.connected:[\w-]{22}$/),
      type: 'app.connected',
      at: expect.any(String),
    },
    ...{ partner: null, partnerName: null, mode: 'live' },
    ...{ sub: 'user-ana', clientId: client.id, clientName: 'Kafe', scopes: ['openid'] },
  });
  expect(JSON.stringify(notice)).not.toContain(token);
  await provider.tokens(client, { scope: 'openid profile', prompt: 'consent' });
  expect(await news()).toEqual([]);
  await provider.ostiary.consents.revoke('user-ana', client.id);
  await provider.token(client);
  expect(await news()).toMatchObject([{ type: 'app.connected', clientId: client.id }]);
});

it('a rotated signing key is noticed, and the key of the first start is not', async () => {
  const { provider, news } = await scene();
  expect(await news()).toEqual([]);
  const { kid, alg, activeFrom } = await provider.ostiary.admin.signingKeys.rotate();
  const of = { type: 'signing_key.rotated', partner: null, partnerName: null, mode: null };
  const notice = { ...of, id: `signing_key.rotated:${kid}`, at: expect.any(String), kid, alg, activeFrom };
  expect(await news()).toEqual([notice]);
});

it('notify that throws, and one that hangs, is called again on its schedule, delays nothing else, and ends', async () => {
  const calls: [string, number][] = [];
  let answer: () => Promise<void> = () => Promise.reject(new Error('the mail server is down'));
  const started = await scene({}, (notice) => {
    calls.push([notice.id, started.provider.clock.now()]);
    return answer();
  });
  const { provider, endpoint, register, trigger, news, jobs, answer: respond } = started;
  const { kid } = await provider.ostiary.admin.signingKeys.rotate();
  const from = provider.clock.now();
  await news();
  await news(minute - 1);
  expect(calls).toEqual([[`signing_key.rotated:${kid}`, from]]);
  answer = async () => undefined;
  await news(1);
  expect(calls).toHaveLength(2);
  await news(day);
  expect(calls).toHaveLength(2);

  const hanging = Promise.withResolvers<void>();
  answer = () => hanging.promise;
  await provider.ostiary.admin.signingKeys.rotate({ alg: 'ES256' });
  respond(200);
  await register(endpoint.url);
  await trigger();
  provider.ostiary.worker.start();
  await expect.poll(() => endpoint.received.length).toBe(1);
  await expect.poll(() => calls.length).toBe(3);
  hanging.reject(new Error('late'));
  await provider.ostiary.worker.stop();

  answer = () => Promise.reject(new Error('still down'));
  const again = calls.length;
  const waits = [minute, 5 * minute, 30 * minute, 2 * hour, 6 * hour, 12 * hour, day, day];
  for (const wait of waits) await news(wait);
  expect(calls.length - again).toBe(waits.length);
  const failures = provider.logged.filter(({ message }) => message.startsWith('notify failed'));
  expect(failures.map(({ level }) => level)).toEqual(['warn', 'warn', ...Array(7).fill('warn'), 'error']);
  await news(3 * day);
  expect(calls.length - again).toBe(waits.length);
  expect((await jobs()).map(({ kind }) => kind)).toEqual(['notice search']);
});

it('without notify nothing is stored, and what an earlier process stored is left to others for an hour', async () => {
  const { provider, database, key, endpoint, register, trigger, news, jobs } = await scene({}, null);
  await register(endpoint.url);
  await trigger();
  await news();
  await provider.ostiary.admin.signingKeys.rotate();
  await provider.token(await provider.client());
  await news(2 * hour);
  expect(database.calls.filter((call) => /^notices\.|^queue\.complete/.test(call))).toEqual([]);

  const job = {
    kind: 'notice',
    payload: {},
    dueAt: provider.clock.now(),
    owner: `live:${key.partner}` as const,
  };
  await database.storage.queue.enqueue([{ id: 'left over', ...job }]);
  await news();
  await news(hour - 1);
  expect(database.calls).not.toContain('queue.complete');
  await news(10 * minute);
  expect(database.calls).toContain('queue.complete');
  expect(await jobs()).toEqual([]);
});

it('a search that fails is repeated in a minute', async () => {
  const { provider, database, news } = await scene();
  const { apiKeys } = provider.ostiary.admin;
  const partner = await provider.partner();
  const expiresAt = new Date(provider.clock.now() + day);
  await apiKeys.issue({ partner, mode: 'live', scopes: ['webhooks'], name: 'Till', expiresAt });
  database.breakWhen((call) => call === 'notices.due');
  expect(await news()).toEqual([]);
  database.breakWhen(() => false);
  expect(await news(minute)).toMatchObject([{ type: 'api_key.ending' }]);
});

it.each(storages)('an inbox that fails on purpose is not noticed, on %s', async (_, storage) => {
  const { register, trigger, news } = await scene({ storage: storage() });
  await register('inbox:500');
  await trigger();
  const found = [];
  for (let minutes = 0; minutes < 125; minutes += 5) found.push(...(await news(5 * minute)));
  expect(found).toEqual([]);
});
