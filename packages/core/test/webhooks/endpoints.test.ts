import { verify } from '@ostiary/webhook-verifier';
import { describe, expect, it } from 'vitest';
import { blamed } from '../partner/refusal.ts';
import { body, hooks, secret, shop, url } from '../partner/webhook-shop.ts';
import { type Sink, sink } from './support/sink.ts';

describe('webhook endpoints', () => {
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
