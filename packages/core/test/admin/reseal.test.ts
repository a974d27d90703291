import { randomBytes } from 'node:crypto';
import { memoryStorage } from '@ostiary/testing/memory';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { resealHandler } from '../../src/admin/reseal.ts';
import { type HostSecrets, type OstiaryOptions, silentLogger } from '../../src/index.ts';
import { createSealer } from '../../src/keys/sealing.ts';
import type { Core } from '../../src/options/context.ts';
import { systemRandom } from '../../src/secrets/random.ts';
import type { Storage } from '../../src/storage.ts';
import { register, secret, webhookProvider } from '../partner/webhook-shop.ts';
import { storageWith } from '../support/fragile-storage.ts';
import { TestClock, type TestProvider } from '../support/provider.ts';

const minute = 60_000;
const hooks = '/v1/partner/webhooks';
const events = ['webhook.test'];
const everything = { after: null, limit: 10_000 };
const idOf = (key: Uint8Array): string => createSealer([key], systemRandom).currentKeyId;

/**
 * Returns a function that starts processes on one database that stays open, and two generations of sealing
 * keys.
 */
function processes() {
  const clock = new TestClock();
  const given = memoryStorage();
  const storage: Storage = { ...given, close: async () => undefined };
  onTestFinished(() => given.close());
  const start = async (sealingKeys: Uint8Array[], options: Partial<OstiaryOptions> = {}) =>
    (await webhookProvider({ storage, sealingKeys, clock, ...options })).provider;
  /** Returns the ids of the sealing keys with which the secrets of API keys and endpoints are encrypted. */
  const sealedWith = async (): Promise<string[]> => {
    const keys = await storage.apiKeys.listSealed(everything);
    const rows = [...keys, ...(await storage.webhooks.listSealed(everything))];
    return [...new Set(rows.map(({ sealed }) => sealed.split('.')[1] ?? ''))];
  };
  return { clock, storage, start, sealedWith, old: randomBytes(32), next: randomBytes(32) };
}

/** Runs all due work, until none is left. */
async function work({ ostiary }: TestProvider): Promise<void> {
  while ((await ostiary.worker.runDue()) > 0);
}

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

  it('includes secrets of the host application', async () => {
    const { clock, start, old, next } = processes();
    let outdated = 3;
    const hostSecrets: HostSecrets = {
      countSealedOtherwise: async () => outdated,
      async reseal() {
        const sealed = outdated - 1;
        outdated = 1;
        return { sealed, unopened: 1 };
      },
    };
    await start([old]);
    const after = await start([next, old], { hostSecrets });
    const { admin } = after.ostiary;
    expect((await admin.health()).sealing.sealedOtherwise).toBe(3);
    expect(await admin.reseal()).toEqual({ sealed: 2, unopened: 1 });
    expect((await admin.health()).sealing.sealedOtherwise).toBe(1);
    outdated = 5;
    await work(after);
    expect(after.logged).toContainEqual({
      level: 'warn',
      message: 'some secrets are not sealed with the first sealing key',
      fields: { sealingKey: idOf(next), sealed: 4, unopened: 1 },
    });
    outdated = 5;
    clock.advance(10 * minute);
    await work(after);
    expect(outdated).toBe(1);
    outdated = 10_001;
    expect((await admin.health()).sealing.sealedOtherwise).toBe(10_000);
  });

  it('takes secrets of the host application in portions, as many in a run of the worker as of its own', async () => {
    const { start, old, next } = processes();
    let outdated = 0;
    let calls = 0;
    let waiting = 0;
    const waits: number[] = [];
    const hostSecrets: HostSecrets = {
      countSealedOtherwise: () => outdated,
      reseal() {
        calls += 1;
        waits.push(waiting);
        waiting += 1;
        setImmediate(() => {
          waiting -= 1;
        });
        const sealed = Math.min(outdated, 10);
        outdated -= sealed;
        return { sealed, unopened: 1, hasMore: outdated > 0 };
      },
    };
    await start([old]);
    const after = await start([next, old], { hostSecrets });
    outdated = 95;
    expect(await after.ostiary.admin.reseal()).toEqual({ sealed: 95, unopened: 1 });
    // Other requests run in between, even if the function returns at once.
    expect([outdated, calls, Math.max(...waits)]).toEqual([0, 10, 0]);
    [outdated, calls] = [1_200, 0];
    await after.ostiary.worker.runDue();
    expect(calls).toBe(50);
    await work(after);
    expect([outdated, calls]).toEqual([0, 120]);
    expect(after.logged).toContainEqual(
      expect.objectContaining({ fields: { sealingKey: idOf(next), sealed: 1_200, unopened: 1 } }),
    );
  });

  it('waits a limited time for the functions of the host application', async () => {
    const { start, old } = processes();
    const never = () => new Promise<never>(() => undefined);
    const hostSecrets: HostSecrets = { countSealedOtherwise: never, reseal: never };
    const { ostiary } = await start([old], { hostSecrets, hostTimeoutSeconds: 0.05 });
    await expect(ostiary.admin.health()).rejects.toThrow('hostSecrets.countSealedOtherwise did not answer');
    await expect(ostiary.admin.reseal()).rejects.toThrow('hostSecrets.reseal did not answer');
  });

  it('refuses invalid numbers of secrets of the host application', async () => {
    const { start, old } = processes();
    for (const wrong of [{ sealed: 1 }, { sealed: 1, unopened: 0, hasMore: 'no' }]) {
      const hostSecrets = { countSealedOtherwise: async () => -1, reseal: async () => wrong };
      const { ostiary } = await start([old], { hostSecrets: hostSecrets as unknown as HostSecrets });
      await expect(ostiary.admin.health()).rejects.toThrow('hostSecrets.countSealedOtherwise must return');
      await expect(ostiary.admin.reseal()).rejects.toThrow('hostSecrets.reseal must return');
    }
  });

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
