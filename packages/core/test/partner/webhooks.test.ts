import { verify } from '@ostiary/webhook-verifier';
import { describe, expect, it } from 'vitest';
import { type Sink, sink } from '../webhooks/support/sink.ts';
import { secret } from '../webhooks/support/webhook-provider.ts';
import { blamed } from './refusal.ts';
import { body, hooks, shop, url } from './webhook-shop.ts';

describe('webhook endpoints', () => {
  it('are registered, shown, listed, changed and removed', async () => {
    const { provider, call, list, register, now } = await shop();
    const events = ['payment.failed', 'kyc.updated'];
    const made = await call(`POST ${hooks}`, { ...body, events });
    const { id } = made.json();
    const times = { createdAt: now(), updatedAt: now() };
    const shown = { id, url, events, enabled: true, mode: 'test', ...times };
    expect(id).toMatch(/^we_[0-9a-f]{32}$/);
    expect([made.status, made.json()]).toEqual([201, shown]);
    expect((await call(`GET ${hooks}/${id}`)).json()).toEqual(shown);

    provider.clock.advance(60_000);
    const second = await register(`${url}/second`);
    for (const [change, after] of [
      [{ url: `${url}/moved` }],
      [{ events: ['*'] }],
      [{ enabled: false }],
      [{ secret: 'another secret, as long as needed' }, {}],
      [{ enabled: true, url }],
    ] as const) {
      const changed = await call(`PATCH ${hooks}/${id}`, change);
      Object.assign(shown, { updatedAt: now() }, after ?? change);
      expect([changed.status, changed.json()]).toEqual([200, shown]);
    }
    // The oldest first, whatever was changed since.
    expect(await list(hooks)).toMatchObject([shown, { id: second }]);

    const removed = await call(`DELETE ${hooks}/${id}`);
    expect([removed.status, removed.json()]).toEqual([200, { id, deleted: true }]);
    for (const target of [`GET ${hooks}/${id}`, `DELETE ${hooks}/${id}`, `GET ${hooks}/${id}/deliveries`])
      expect([(await call(target)).status, target]).toEqual([404, target]);
    expect(blamed(await call(`PATCH ${hooks}/${id}`, { enabled: true }), 404, 'not_found')).toEqual([]);
    expect(await list(hooks)).toMatchObject([{ id: second }]);
  });

  it('do not exist for another partner or in the other mode, whatever is asked of them', async () => {
    const { provider, key, call, list, register } = await shop();
    const id = await register();
    const [stranger, live] = [
      await provider.key({ mode: 'test' }),
      await provider.key({ partner: key.partner }),
    ];
    for (const by of [stranger, live]) {
      for (const [target, payload] of [
        [`GET ${hooks}/:id`],
        [`PATCH ${hooks}/:id`, { enabled: false }],
        [`DELETE ${hooks}/:id`],
        [`GET ${hooks}/:id/deliveries`],
      ] as const) {
        const answers = [id, `we_${'0'.repeat(32)}`].map((one) =>
          call(target.replace(':id', one), payload, by),
        );
        const [foreign, unknown] = await Promise.all(answers);
        for (const answer of [foreign, unknown])
          expect(answer && blamed(answer, 404, 'not_found')).toEqual([]);
        // Nothing tells somebody else's from nobody's.
        expect({ ...foreign?.json(), requestId: '' }).toEqual({ ...unknown?.json(), requestId: '' });
      }
      expect(await list(hooks, by)).toEqual([]);
    }
    expect(await list(hooks)).toMatchObject([{ id, enabled: true }]);
    // Another key of the same partner and mode may do everything.
    const sibling = await provider.key({ partner: key.partner, mode: 'test' });
    expect((await call(`DELETE ${hooks}/${id}`, undefined, sibling)).status).toBe(200);
  });

  it('are 50 at most per partner and mode, also of 60 parallel registrations', async () => {
    const { provider, key, call, list, register } = await shop();
    const post = () => call(`POST ${hooks}`, body);
    const answers = await Promise.all(Array.from({ length: 60 }, post));
    const refused = answers.filter(({ status }) => status !== 201);
    expect(refused).toHaveLength(10);
    for (const answer of refused) {
      expect(blamed(answer)).toEqual([]);
      expect(answer.json().message).toMatch(/50 webhook endpoints/);
    }
    const [first, ...others] = await list(hooks);
    expect(others).toHaveLength(49);
    // Others have room of their own, a disabled one still counts, and a removed one makes room.
    await register(url, {}, await provider.key({ partner: key.partner }));
    await register(url, {}, await provider.key({ mode: 'test' }));
    await call(`PATCH ${hooks}/${first?.id}`, { enabled: false });
    expect((await post()).status).toBe(400);
    await call(`DELETE ${hooks}/${first?.id}`);
    expect((await post()).status).toBe(201);
  });

  it('lose nothing when they are changed from many sides at once', async () => {
    const { call, register } = await shop();
    const id = await register();
    const changes = [{ url: `${url}/new` }, { events: ['*'] }, { enabled: false }, { secret: `${secret}!` }];
    const patch = (_: unknown, index: number) => call(`PATCH ${hooks}/${id}`, changes[index % 4]);
    const answers = await Promise.all(Array.from({ length: 40 }, patch));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const changed = { url: `${url}/new`, events: ['*'], enabled: false };
    expect((await call(`GET ${hooks}/${id}`)).json()).toMatchObject(changed);
  });

  it('that are disabled or removed cancel what is pending, and get nothing new', async () => {
    const { provider, call, register, trigger, deliveries, statuses } = await shop();
    const [disabled, removed, kept] = [await register(), await register(), await register()];
    const next = async () => {
      provider.clock.advance(1);
      await trigger();
    };
    await next();
    expect(await statuses(disabled)).toEqual(['pending']);
    await call(`PATCH ${hooks}/${disabled}`, { enabled: false });
    const cancelled = { status: 'cancelled', nextAttemptAt: null, attempts: [] };
    expect(await deliveries(disabled)).toMatchObject([cancelled]);
    await call(`DELETE ${hooks}/${removed}`);
    await next();
    expect(await statuses(disabled)).toEqual(['cancelled']);
    expect(await statuses(kept)).toEqual(['pending', 'pending']);
    // What was cancelled stays so; only what comes later is delivered.
    await call(`PATCH ${hooks}/${disabled}`, { enabled: true });
    await next();
    expect(await statuses(disabled)).toEqual(['pending', 'cancelled']);
    // Other changes leave the queue alone.
    await call(`PATCH ${hooks}/${disabled}`, { url: `${url}/4`, events: ['payment.failed'] });
    expect(await statuses(disabled)).toEqual(['pending', 'cancelled']);
  });

  it('get a retry at the address and with the secret that they have by then', async () => {
    const { provider, call, register, trigger, work } = await shop();
    const clock = { now: () => provider.clock.now() };
    const [old, moved] = [await sink(clock.now), await sink(clock.now)];
    old.answer = (response) => void response.writeHead(500).end();
    const id = await register(old.url);
    const event = await trigger();
    await work();
    const rotated = 'another secret, as long as needed';
    await call(`PATCH ${hooks}/${id}`, { url: moved.url, secret: rotated, events: ['kyc.updated'] });
    provider.clock.advance(60_000);
    await work();
    expect([old.received.length, moved.received.length]).toEqual([1, 1]);
    const check = ({ received: [first] }: Sink, used: string) =>
      verify(first?.body ?? '', first?.headers ?? {}, { secret: used, ...clock });
    expect(await check(moved, rotated)).toMatchObject({ id: event.id, attempt: 2 });
    await expect(check(moved, secret)).rejects.toMatchObject({ code: 'signature_mismatch' });
    expect(await check(old, secret)).toMatchObject({ id: event.id, attempt: 1 });
  });

  it('get the events that they name, or all, in their mode', async () => {
    const { provider, key, register, trigger, deliveries } = await shop();
    const types = ['kyc.updated', 'payment.completed', 'payment.failed', 'webhook.test'];
    const named = ['kyc.updated', 'payment.failed'];
    const [all, some] = [await register(url, { events: ['*'] }), await register(url, { events: named })];
    const live = await provider.key({ partner: key.partner });
    const ofLive = await register(url, { events: ['*'] }, live);
    for (const type of types) await trigger(type);
    for (const [id, expected, by] of [
      [all, types],
      [some, named],
      [ofLive, [], live],
    ] as const)
      expect((await deliveries(id, by)).map(({ eventType }) => eventType).sort()).toEqual(expected);
  });
});
