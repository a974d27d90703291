import { Client } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { acme, sampleEndpoint, sampleEvent, sampleResult } from './samples.ts';
import { serverForTests } from './server.ts';

const server = serverForTests();

const hold = { now: 9, leaseMs: 30_000, limit: 100, room: 100, rooms: new Map<string, number>() };

async function openStorage() {
  const { schema, storage } = await server.opened();
  for (const [label, partner] of [
    ['1', 'acme'],
    ['2', 'other'],
  ] as const) {
    const endpoint = sampleEndpoint(label, { partner });
    await storage.webhooks.create({ endpoint, idempotency: null, max: 9, now: 1 });
  }
  const claimed = async (claimId: string, now = hold.now) =>
    (await storage.deliveries.claim({ ...hold, claimId, now })).map(({ id }) => id);
  const hasNews = async () => {
    const { rows } = await server.pool.query(
      `SELECT has_news FROM "${schema}".event_sequences WHERE partner = '${acme.partner}'`,
    );
    return rows[0].has_news;
  };
  return { storage, claimed, hasNews };
}

test('a host that keeps its transaction open holds up nobody, and what it publishes is found after its commit', async () => {
  const { storage, claimed, hasNews } = await openStorage();
  const host = new Client({ connectionString: server.url });
  await host.connect();
  onTestFinished(() => host.end());
  await storage.events.publish([sampleEvent('before')], { idempotency: null, now: 1 });
  await host.query('BEGIN');
  await storage.events.within(host).publish([sampleEvent('late', { createdAt: 1 })]);
  await storage.events.publish([sampleEvent('of another', { partner: 'other' })], {
    idempotency: null,
    now: 1,
  });
  expect((await claimed('1')).toSorted()).toEqual(['dl_before_1', 'dl_of another_1']);
  // Nothing is left that a claim sees, however often it looks.
  for (const claimId of ['2', '3', '4']) expect(await claimed(claimId)).toEqual([]);
  await host.query('COMMIT');
  expect(await hasNews()).toBe(true);
  expect(await claimed('5')).toEqual(['dl_late_1']);
  expect(await claimed('6')).toEqual([]);
  expect(await hasNews()).toBe(false);
});

test('whatever is published beside claims is claimed once, by one of them or by the next', async () => {
  const { storage, claimed, hasNews } = await openStorage();
  const found: string[] = [];
  const rounds = 150;
  for (let round = 0; round < rounds; round += 1) {
    const published = storage.events.publish([sampleEvent(`${round}`)], { idempotency: null, now: 1 });
    const beside = await Promise.all([0, 1, 2].map((claim) => claimed(`${round} ${claim}`)));
    await published;
    found.push(...beside.flat());
    // Another claim may have held the endpoint just then; now nobody does.
    found.push(...(await claimed(`${round} last`)));
    expect(found).toHaveLength(round + 1);
  }
  expect(new Set(found).size).toBe(rounds);
  await claimed('quiet');
  expect(await hasNews()).toBe(false);
});

test('what is handed back while its endpoint is claimed is found at once', async () => {
  const { storage, claimed } = await openStorage();
  for (let round = 0; round < 50; round += 1) {
    await storage.events.publish([sampleEvent(`${round}`)], { idempotency: null, now: 1 });
    const [held] = await storage.deliveries.claim({ ...hold, claimId: `held ${round}` });
    if (held === undefined) throw new Error('nothing was claimed');
    const back = { ...held, attempt: null, next: { status: 'pending', dueAt: held.dueAt } } as const;
    const later = hold.now + hold.leaseMs;
    const [counted, taken] = await Promise.all([
      storage.deliveries.finish([back]),
      claimed(`beside ${round}`, round % 2 === 0 ? hold.now : later),
    ]);
    const rest = taken.length > 0 ? taken : await claimed(`next ${round}`, later);
    expect(rest).toEqual([held.id]);
    expect(counted[0] || taken.length > 0).toBe(true);
    for (const claimId of [`beside ${round}`, `next ${round}`])
      await storage.deliveries.finish([sampleResult({ id: held.id, claimId, attempt: 1 })]);
  }
});
