import { verify } from '@ostiary/webhook-verifier';
import { describe, expect, it } from 'vitest';
import { storages } from '../support/partner-api.ts';
import { type Sink, sink } from '../webhooks/support/sink.ts';
import { deliveries, register, secret, trigger } from '../webhooks/support/webhook-provider.ts';
import { blamed } from './refusal.ts';
import { body, hooks, idsOf, shop, url } from './webhook-shop.ts';

describe.each(storages)('webhook endpoints, on %s', (_name, newStorage) => {
  it('are registered, shown, listed, changed and removed', async () => {
    const { provider, key, call } = await shop({ storage: newStorage() });
    const createdAt = new Date(provider.clock.now()).toISOString();
    const made = await call(`POST ${hooks}`, { ...body, events: ['payment.failed', 'kyc.updated'] });
    const { id } = made.json();
    const shown = {
      id,
      url,
      events: ['payment.failed', 'kyc.updated'],
      enabled: true,
      mode: 'live',
      createdAt,
      updatedAt: createdAt,
    };
    expect(id).toMatch(/^we_[0-9a-f]{32}$/);
    expect([made.status, made.json()]).toEqual([201, shown]);
    expect((await call(`GET ${hooks}/${id}`)).json()).toEqual(shown);

    provider.clock.advance(60_000);
    const updatedAt = new Date(provider.clock.now()).toISOString();
    const second = await register(provider, key, `${url}/second`);
    for (const [change, after] of [
      [{ url: `${url}/moved` }, { url: `${url}/moved` }],
      [{ events: ['*'] }, { events: ['*'] }],
      [{ enabled: false }, { enabled: false }],
      [{ secret: 'another secret, as long as needed' }, {}],
      [
        { enabled: true, url },
        { enabled: true, url },
      ],
    ]) {
      const changed = await call(`PATCH ${hooks}/${id}`, change);
      Object.assign(shown, { updatedAt }, after);
      expect([changed.status, changed.json()]).toEqual([200, shown]);
    }
    expect((await call(`GET ${hooks}/${id}`)).json()).toEqual(shown);
    // The oldest first, whatever was changed since.
    expect(await idsOf(provider, key)).toEqual([id, second]);

    const removed = await call(`DELETE ${hooks}/${id}`);
    expect([removed.status, removed.json()]).toEqual([200, { id, deleted: true }]);
    for (const target of [`GET ${hooks}/${id}`, `DELETE ${hooks}/${id}`, `GET ${hooks}/${id}/deliveries`])
      expect([(await call(target)).status, target]).toEqual([404, target]);
    expect(blamed(await call(`PATCH ${hooks}/${id}`, { enabled: true }), 404, 'not_found')).toEqual([]);
    expect(await idsOf(provider, key)).toEqual([second]);
  });

  it('do not exist for another partner or in the other mode, whatever is asked of them', async () => {
    const { provider, key, call } = await shop({ storage: newStorage() });
    const id = await register(provider, key, url);
    const foreign = [await provider.key(), await provider.key({ partner: key.partner, mode: 'test' })];
    const nobodys = `we_${'0'.repeat(32)}`;
    for (const by of foreign) {
      for (const [method, path, payload] of [
        ['GET', ''],
        ['PATCH', '', { enabled: false }],
        ['DELETE', ''],
        ['GET', '/deliveries'],
        ['POST', '/recover', { since: '2026-01-01T00:00:00Z' }],
      ] as const) {
        const [answer, unknown] = [
          await call(`${method} ${hooks}/${id}${path}`, payload, by),
          await call(`${method} ${hooks}/${nobodys}${path}`, payload, by),
        ];
        expect(blamed(answer, 404, 'not_found')).toEqual([]);
        // Nothing tells somebody else's from nobody's.
        expect({ ...answer.json(), requestId: '' }).toEqual({ ...unknown.json(), requestId: '' });
      }
      expect(await idsOf(provider, by)).toEqual([]);
    }
    expect((await call(`GET ${hooks}/${id}`)).json()).toMatchObject({ enabled: true });
    // Another key of the same partner and mode may do everything.
    const sibling = await provider.key({ partner: key.partner });
    expect((await call(`DELETE ${hooks}/${id}`, undefined, sibling)).status).toBe(200);
  });

  it('are 50 at most per partner and mode, also of 60 parallel registrations', async () => {
    const { provider, key, call } = await shop({ storage: newStorage() });
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, index) => call(`POST ${hooks}`, { ...body, url: `${url}/${index}` })),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(50);
    const refused = answers.filter(({ status }) => status !== 201);
    expect(refused).toHaveLength(10);
    for (const answer of refused) {
      expect(blamed(answer)).toEqual([]);
      expect(answer.json().message).toMatch(/50 webhook endpoints/);
    }
    expect(await idsOf(provider, key)).toHaveLength(50);
    // Others have room of their own, a disabled one still counts, and a removed one makes room.
    const sandbox = await provider.key({ partner: key.partner, mode: 'test' });
    for (const by of [sandbox, await provider.key()])
      expect((await call(`POST ${hooks}`, body, by)).status).toBe(201);
    const [first] = await idsOf(provider, key);
    await call(`PATCH ${hooks}/${first}`, { enabled: false });
    expect((await call(`POST ${hooks}`, body)).status).toBe(400);
    await call(`DELETE ${hooks}/${first}`);
    expect((await call(`POST ${hooks}`, body)).status).toBe(201);
  });

  it('lose nothing when they are changed from many sides at once', async () => {
    const { provider, key, call } = await shop({ storage: newStorage() });
    const id = await register(provider, key, url, { events: ['webhook.test'] });
    const changes = [{ url: `${url}/new` }, { events: ['*'] }, { enabled: false }, { secret: `${secret}!` }];
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, index) => call(`PATCH ${hooks}/${id}`, changes[index % 4])),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect((await call(`GET ${hooks}/${id}`)).json()).toMatchObject({
      url: `${url}/new`,
      events: ['*'],
      enabled: false,
    });
  });

  it('that are disabled or removed cancel what is pending, and get nothing new', async () => {
    const { provider, key, call } = await shop({ storage: newStorage() }, 'test');
    const [disabled, removed, kept] = [
      await register(provider, key, `${url}/1`),
      await register(provider, key, `${url}/2`),
      await register(provider, key, `${url}/3`),
    ];
    await trigger(provider, key);
    const statusesOf = async (id: string) =>
      (await deliveries(provider, key, id)).map(({ status }) => status);
    expect(await statusesOf(disabled)).toEqual(['pending']);
    await call(`PATCH ${hooks}/${disabled}`, { enabled: false });
    expect((await deliveries(provider, key, disabled))[0]).toMatchObject({
      status: 'cancelled',
      nextAttemptAt: null,
      attempts: [],
    });
    await call(`DELETE ${hooks}/${removed}`);
    provider.clock.advance(1);
    await trigger(provider, key);
    expect(await statusesOf(disabled)).toEqual(['cancelled']);
    expect(await statusesOf(kept)).toEqual(['pending', 'pending']);
    // What was cancelled stays so; only what comes later is delivered.
    await call(`PATCH ${hooks}/${disabled}`, { enabled: true });
    expect(await statusesOf(disabled)).toEqual(['cancelled']);
    provider.clock.advance(1);
    await trigger(provider, key);
    expect(await statusesOf(disabled)).toEqual(['pending', 'cancelled']);
    // Other changes leave the queue alone.
    await call(`PATCH ${hooks}/${disabled}`, { url: `${url}/4`, events: ['payment.failed'] });
    expect(await statusesOf(disabled)).toEqual(['pending', 'cancelled']);
  });

  it('get a retry at the address and with the secret that they have by then', async () => {
    const { provider, key, call } = await shop({ storage: newStorage() }, 'test');
    const [old, moved] = [await sink(() => provider.clock.now()), await sink(() => provider.clock.now())];
    old.answer = (response) => void response.writeHead(500).end();
    const id = await register(provider, key, old.url);
    const event = await trigger(provider, key);
    await provider.ostiary.worker.runDue();
    const rotated = 'another secret, as long as needed';
    await call(`PATCH ${hooks}/${id}`, { url: moved.url, secret: rotated, events: ['kyc.updated'] });
    provider.clock.advance(60_000);
    await provider.ostiary.worker.runDue();
    expect([old.received.length, moved.received.length]).toEqual([1, 1]);
    const check = (endpoint: Sink, used: string) =>
      verify(endpoint.received[0]?.body ?? '', endpoint.received[0]?.headers ?? {}, {
        secret: used,
        now: () => provider.clock.now(),
      });
    expect(await check(moved, rotated)).toMatchObject({ id: event.id, attempt: 2 });
    await expect(check(moved, secret)).rejects.toMatchObject({ code: 'signature_mismatch' });
    expect(await check(old, secret)).toMatchObject({ id: event.id, attempt: 1 });
  });

  it('get the events that they name, in their mode', async () => {
    const { provider, key } = await shop({ storage: newStorage() }, 'test');
    const all = await register(provider, key, `${url}/all`);
    const some = await register(provider, key, `${url}/some`, { events: ['payment.failed', 'kyc.updated'] });
    const live = await provider.key({ partner: key.partner });
    const liveId = await register(provider, live, `${url}/live`);
    for (const type of ['payment.completed', 'payment.failed', 'kyc.updated', 'webhook.test'])
      await trigger(provider, key, type);
    const typesOf = async (id: string, by = key) =>
      (await deliveries(provider, by, id)).map(({ eventType }) => eventType).sort();
    expect(await typesOf(all)).toEqual([
      'kyc.updated',
      'payment.completed',
      'payment.failed',
      'webhook.test',
    ]);
    expect(await typesOf(some)).toEqual(['kyc.updated', 'payment.failed']);
    expect(await typesOf(liveId, live)).toEqual([]);
  });
});
