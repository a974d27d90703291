import { describe, expect, it } from 'vitest';
import type { Administration } from '../../src/admin.ts';
import { partnerProvider } from '../support/partner-api.ts';

const { provider } = await partnerProvider();
const { admin } = provider.ostiary;

/** Returns the newest act in the audit log. */
const newestAct = async () => (await admin.audit.list({ limit: 1 })).entries[0];

describe('another actor', () => {
  it('is written down by every part of the administration, and changes nothing for the first one', async () => {
    const ana = admin.as('ana@example.com');
    const client = { name: 'App', redirectUris: ['https://app.example/'], allowedScopes: ['openid'] };
    const acts: readonly ((by: Administration) => Promise<unknown>)[] = [
      (by) => by.clients.create(client),
      (by) => by.partners.create({ slug: `p-${Math.random().toString(36).slice(2)}`, name: 'P' }),
      (by) => by.signingKeys.rotate({ alg: 'ES256' }),
      (by) => by.users.end('usr_1'),
      (by) => by.purge(),
      (by) => by.reseal(),
    ];
    for (const act of acts) {
      provider.clock.advance(1);
      await act(ana);
      expect((await newestAct())?.actor).toBe('ana@example.com');
      provider.clock.advance(1);
      await act(admin);
      expect((await newestAct())?.actor).toBe('host');
    }
    provider.clock.advance(1);
    await ana.as('ben').users.end('usr_1');
    expect((await newestAct())?.actor).toBe('ben');
  });

  it('has a name of 1 to 200 characters', () => {
    for (const name of ['', ' ', 'x'.repeat(201), null, 7])
      expect(() => admin.as(name as string)).toThrow(TypeError);
    expect(() => admin.as('x'.repeat(200))).not.toThrow();
  });
});

it('an id that no user can have is ended nowhere, and leaves no act', async () => {
  const before = await newestAct();
  for (const sub of ['', 'x'.repeat(256), 'a\nb', 'é'])
    await expect(admin.users.end(sub)).rejects.toThrow(TypeError);
  expect(await newestAct()).toEqual(before);
});

it('a purge and a sealing tell their progress, and write down what they did', async () => {
  const own = await partnerProvider();
  await own.provider.client();
  const { signingKeys, purge, reseal, audit } = own.provider.ostiary.admin;
  await signingKeys.rotate({ alg: 'ES256' });
  const removed: number[] = [];
  own.provider.clock.advance(400 * 86_400_000);
  const purged = await purge({ onProgress: (count) => removed.push(count) });
  expect((await audit.list({ limit: 1 })).entries[0]).toMatchObject({
    action: 'storage.purge',
    target: 'storage',
    details: purged,
  });
  expect(removed.at(-1) ?? 0).toBe(Object.values(purged).reduce((sum, count) => sum + count, 0));
  const steps: (readonly [done: number, of: number])[] = [];
  own.provider.clock.advance(1);
  const resealed = await reseal({ onProgress: (done, of) => steps.push([done, of]) });
  expect((await audit.list({ limit: 1 })).entries[0]).toMatchObject({
    action: 'storage.reseal',
    target: 'storage',
    details: resealed,
  });
  const [done, of] = steps.at(-1) ?? [];
  expect(done).toBe(of);
});
