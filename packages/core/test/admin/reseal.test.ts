import { randomBytes } from 'node:crypto';
import { memoryStorage } from '@ostiary/testing/memory';
import { describe, expect, it, vi } from 'vitest';
import { resealHandler } from '../../src/admin/reseal.ts';
import { silentLogger } from '../../src/index.ts';
import { createSealer } from '../../src/keys/sealing.ts';
import type { Core } from '../../src/options/context.ts';
import { systemRandom } from '../../src/secrets/random.ts';
import type { Storage } from '../../src/storage.ts';
import { register, secret } from '../partner/webhook-shop.ts';
import { storageWith } from '../support/fragile-storage.ts';
import { TestClock, type TestProvider } from '../support/provider.ts';
import { everything, idOf, processes, work } from './resealing.ts';

const minute = 60_000;
const hooks = '/v1/partner/webhooks';
const events = ['webhook.test'];

/** Returns the log's warnings about secrets that cannot be decrypted. */
const complaints = ({ logged }: TestProvider) =>
  logged.filter(({ message }) => message.startsWith('a sealed secret cannot be opened'));

/**
 * Starts a process with the old sealing key, which encrypts the secrets of an endpoint and of an API key. The
 * test can start further processes on the same database.
 */
async function withEndpoint() {
  const all = processes();
  const before = await all.start([all.old]);
  const test = await before.key({ mode: 'test' });
  return { ...all, before, test, id: await register(before, test, 'https://192.0.2.1/', { events }) };
}

describe('sealing anew', () => {
  it('asks for nothing where there is one key', async () => {
    const { start, storage, old, next } = processes();
    await start([old]);
    const claim = { kinds: ['reseal'], claimId: 'c', now: Number.MAX_SAFE_INTEGER, leaseMs: 1, limit: 9 };
    expect(await storage.queue.claim(claim)).toEqual([]);
    await start([next, old]);
    expect(await storage.queue.claim(claim)).toHaveLength(2);
  });

  it('runs at once on request of an administrator, with its progress', async () => {
    const { start, sealedWith, old, next } = await withEndpoint();
    const { ostiary } = await start([next, old]);
    // The start reseals the signing keys, so this process can open those but no other secrets.
    const late = await start([next]);
    expect(await late.ostiary.admin.reseal()).toEqual({ sealed: 0, unopened: 2 });
    const steps: unknown[] = [];
    const onProgress = (...step: number[]) => steps.push(step);
    expect(await ostiary.admin.as('ana').reseal({ onProgress })).toEqual({ sealed: 2, unopened: 0 });
    expect(await sealedWith()).toEqual([idOf(next)]);
    expect(steps.at(-1)).toEqual([2, 2]);
    const { entries } = await ostiary.admin.audit.list();
    expect(entries.find(({ actor }) => actor === 'ana')).toMatchObject({
      ...{ action: 'storage.reseal', details: { sealed: 2, unopened: 0 } },
    });
    expect(await late.ostiary.admin.reseal()).toEqual({ sealed: 0, unopened: 0 });
  });

  it('is repeated, because a process before its restart still seals with the old key', async () => {
    const { clock, start, sealedWith, old, next } = processes();
    const late = await start([old, next]);
    const { partner } = await late.key();
    const after = await start([next, old]);
    await work(after);
    for (let round = 0; round < 3; round += 1) {
      await late.key({ partner });
      expect((await sealedWith()).toSorted()).toEqual([idOf(next), idOf(old)].toSorted());
      clock.advance(10 * minute);
      await work(after);
      expect(await sealedWith()).toEqual([idOf(next)]);
    }
    // Without a previous key, nothing is left to reseal.
    const last = await start([next]);
    clock.advance(10 * minute);
    await work(last);
    clock.advance(60 * minute);
    const again = await last.ostiary.worker.runDue();
    expect(again).toBe(1);
  });

  it('reports secrets that no key opens once, continues with the rest, and lets the server start', async () => {
    const { clock, start, storage, old, next, before, test, id } = await withEndpoint();
    const lost = randomBytes(32);
    const fine = await register(before, test, 'https://192.0.2.2/', { events });
    const strange = createSealer([lost], systemRandom).seal('x', `webhook_endpoints/${id}/secret`);
    const moved = createSealer([old], systemRandom).seal('x', 'api_keys/other/signing_secret');
    for (const [store, row, sealed] of [
      [storage.webhooks, id, strange],
      [storage.apiKeys, test.id, moved],
    ] as const) {
      const read = (await store.listSealed(everything)).find((one) => one.id === row);
      await store.reseal([{ id: row, before: read?.sealed ?? '', sealed }]);
    }
    const after = await start([next, old]);
    await work(after);
    clock.advance(10 * minute);
    await work(after);
    expect(complaints(after)).toMatchObject([
      { level: 'error', fields: { endpoint: id } },
      { level: 'error', fields: { key: test.id } },
    ]);
    expect(String(Reflect.get(complaints(after)[0]?.fields ?? {}, 'err'))).toContain(idOf(lost));
    const rows = await storage.webhooks.listSealed(everything);
    const sealedOf = (row: string) => rows.find((one) => one.id === row)?.sealed;
    expect(sealedOf(id)).toBe(strange);
    const opened = createSealer([next], systemRandom).open(
      sealedOf(fine) ?? '',
      `webhook_endpoints/${fine}/secret`,
    );
    expect(opened).toBe(secret);
    expect(after.logged).toContainEqual({
      level: 'warn',
      message: 'some secrets are not sealed with the first sealing key',
      fields: { sealingKey: idOf(next), sealed: 1, unopened: 2 },
    });
  });

  it.each(['partner', 'administrator'])(
    'is not undone by a change of a %s that read before and writes after',
    async (who) => {
      const { start, storage, sealedWith, old, next, test, id } = await withEndpoint();
      let isSealing = false;
      const find: Storage['webhooks']['find'] = async (owner, wanted) => {
        const endpoint = await storage.webhooks.find(owner, wanted);
        isSealing = true;
        await work(after);
        return endpoint;
      };
      const after = await start([next, old], { storage: storageWith(storage, 'webhooks', { find }) });
      const owner = { partner: test.partner, mode: 'test' } as const;
      if (who === 'partner') await after.partnerCall(test, `PATCH ${hooks}/${id}`, { enabled: false });
      else await after.ostiary.admin.webhooks.disable(owner, id);
      expect(isSealing).toBe(true);
      expect(await sealedWith()).toEqual([idOf(next)]);
      expect((await storage.webhooks.find(owner, id))?.enabled).toBe(false);
    },
  );

  it('works in bounded batches, and hands the job back before its lease ends', async () => {
    const [old, next] = [randomBytes(32), randomBytes(32)];
    const [previous, sealer] = [createSealer([old], systemRandom), createSealer([next, old], systemRandom)];
    const column = (id: string) => `api_keys/${id}/signing_secret`;
    const ids = Array.from({ length: 10_500 }, (_, index) => `key_${String(index).padStart(6, '0')}`);
    const rows = ids.map((id) => ({ id, sealed: previous.seal('a secret', column(id)) }));
    const sizes: number[] = [];
    const memory = memoryStorage();
    await memory.open();
    const listSealed: Storage['apiKeys']['listSealed'] = async ({ after, limit }) =>
      rows.filter(({ id }) => after === null || id > after).slice(0, limit);
    const reseal: Storage['apiKeys']['reseal'] = async (secrets) => {
      sizes.push(secrets.length);
      for (const { id, sealed } of secrets) rows[ids.indexOf(id)] = { id, sealed };
      return secrets.length;
    };
    const storage = storageWith(memory, 'apiKeys', { listSealed, reseal });
    const clock = new TestClock();
    const logger = { ...silentLogger, info: vi.fn(), warn: vi.fn() };
    const handler = resealHandler({ storage, clock, options: { logger }, sealer } as unknown as Core);
    const job = {
      id: 'reseal x',
      kind: 'reseal',
      payload: {},
      dueAt: 0,
      claimId: 'c',
      attempt: 1,
      owner: '' as const,
    };
    expect(await handler({}, job)).toEqual({ dueAt: clock.now() });
    expect([sizes.length, Math.max(...sizes)]).toEqual([50, 200]);
    expect(await handler({}, job)).toBe(null);
    const told = { sealingKey: idOf(next), sealed: rows.length, unopened: 0 };
    expect(logger.info.mock.calls).toEqual([[told, expect.any(String)]]);
    expect(await handler({}, { ...job, id: 'reseal' })).toEqual({ dueAt: clock.now() + 10 * minute });
    const renewed = createSealer([next], systemRandom);
    for (const { id, sealed } of rows) expect(renewed.open(sealed, column(id))).toBe('a secret');
    expect(logger.warn).not.toHaveBeenCalled();
  });
});
