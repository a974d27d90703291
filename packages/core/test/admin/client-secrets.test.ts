import { describe, expect, it } from 'vitest';
import type { NewClient } from '../../src/admin.ts';
import { startProvider } from '../support/running.ts';

const provider = await startProvider();
const admin = provider.ostiary.admin.clients;

const settings = (changes: object = {}): NewClient => ({
  name: 'App',
  redirectUris: ['https://app.example/'],
  allowedScopes: ['openid'],
  ...changes,
});
const iso = (time = provider.clock.now()): string => new Date(time).toISOString();

describe('rotating a secret', () => {
  it('never lengthens the life of an older one, and drops those that ended', async () => {
    const { client } = await admin.create(settings());
    const rotate = async (...given: { overlapSeconds: number }[]) =>
      (await admin.rotateSecret(client.clientId, ...given)).client.secrets;
    await rotate({ overlapSeconds: 10 });
    const [, hundred, ten] = await rotate({ overlapSeconds: 100 });
    expect(hundred?.expiresAt).toBe(iso(provider.clock.now() + 100_000));
    expect(ten?.expiresAt).toBe(iso(provider.clock.now() + 10_000));
    provider.clock.advance(10_000);
    expect(await rotate({ overlapSeconds: 5 })).toHaveLength(3);
    expect(await rotate()).toHaveLength(1);
  });

  it('leaves a replaced secret in the list until it expires', async () => {
    const { client } = await admin.create(settings());
    await admin.rotateSecret(client.clientId, { overlapSeconds: 10 });
    const lengths = async () => {
      const { clients } = await admin.list();
      const { rows } = await admin.sorted();
      const all = [await admin.get(client.clientId), ...clients, ...rows];
      const same = all.filter((one) => one?.clientId === client.clientId);
      return same.map((one) => one?.secrets.length);
    };
    provider.clock.advance(9_999);
    expect(await lengths()).toEqual([2, 2, 2]);
    provider.clock.advance(1);
    expect(await lengths()).toEqual([1, 1, 1]);
    expect((await admin.disable(client.clientId)).secrets).toHaveLength(1);
  });

  it('is not for public clients, and takes an overlap of 0 seconds to a year', async () => {
    const { client } = await admin.create(settings({ public: true }));
    await expect(admin.rotateSecret(client.clientId)).rejects.toThrow(TypeError);
    const { client: other } = await admin.create(settings());
    for (const overlapSeconds of [-1, 0.5, 31_536_001, Number.NaN]) {
      await expect(admin.rotateSecret(other.clientId, { overlapSeconds })).rejects.toThrow(TypeError);
    }
    expect((await admin.get(other.clientId))?.secrets).toHaveLength(1);
  });
});
