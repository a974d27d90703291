import { verify } from '@ostiary/webhook-verifier';
import { describe, expect, it } from 'vitest';
import { type Sink, sink } from '../../webhooks/support/sink.ts';
import { blamed } from '../refusal.ts';
import { body, hooks, secret, shop, url } from '../webhook-shop.ts';

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
    // Oldest first, regardless of later changes.
    expect(await list(hooks)).toMatchObject([shown, { id: second }]);

    const removed = await call(`DELETE ${hooks}/${id}`);
    expect([removed.status, removed.json()]).toEqual([200, { id, deleted: true }]);
    for (const target of [`GET ${hooks}/${id}`, `DELETE ${hooks}/${id}`, `GET ${hooks}/${id}/deliveries`])
      expect([(await call(target)).status, target]).toEqual([404, target]);
    expect(blamed(await call(`PATCH ${hooks}/${id}`, { enabled: true }), 404, 'not_found')).toEqual([]);
    expect(await list(hooks)).toMatchObject([{ id: second }]);
  });

  it('are 50 at most per partner and mode, whether they are enabled or not', async () => {
    const { provider, key, call, register } = await shop();
    const post = () => call(`POST ${hooks}`, body);
    const ids = await Promise.all(Array.from({ length: 50 }, () => register()));
    await call(`PATCH ${hooks}/${ids[0]}`, { enabled: false });
    const refused = await post();
    expect(blamed(refused)).toEqual([]);
    expect(refused.json().message).toMatch(/50 webhook endpoints/);
    await register(url, {}, await provider.key({ partner: key.partner }));
    await call(`DELETE ${hooks}/${ids[0]}`);
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
});
