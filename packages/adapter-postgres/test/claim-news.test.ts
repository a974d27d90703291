import { Client } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { acme, sampleEvent } from '../../testing/src/contract/partner-samples.ts';
import { now } from '../../testing/src/contract/samples.ts';
import {
  claimedIds,
  claimedOne,
  leaseMs,
  published,
  registered,
  resultOf,
} from '../../testing/src/contract/webhook-samples.ts';
import { serverForTests } from './server.ts';

const server = serverForTests();

async function openStorage() {
  const { schema, storage } = await server.opened();
  for (const partner of ['acme', 'other']) await registered(storage, partner, { partner });
  const claimed = (claimId: string, at = now) => claimedIds(storage, claimId, { now: at });
  const hasNews = async () => {
    const { rows } = await server.pool.query(
      `SELECT has_news FROM "${schema}".event_sequences WHERE partner = '${acme.partner}'`,
    );
    return rows[0].has_news;
  };
  return { storage, claimed, hasNews };
}

test('a host that keeps its transaction open delays nothing, and its events are found after its commit', async () => {
  const { storage, claimed, hasNews } = await openStorage();
  const host = new Client({ connectionString: server.url });
  await host.connect();
  onTestFinished(() => host.end());
  await published(storage, 'before');
  await host.query('BEGIN');
  await storage.events.within(host).publish([sampleEvent('late')]);
  await published(storage, 'of another', { partner: 'other' });
  expect((await claimed('1')).toSorted()).toEqual(['dl_before_1', 'dl_of another_1']);
  // No work is left to claim.
  for (const claimId of ['2', '3', '4']) expect(await claimed(claimId)).toEqual([]);
  await host.query('COMMIT');
  expect(await hasNews()).toBe(true);
  expect(await claimed('5')).toEqual(['dl_late_1']);
  expect(await claimed('6')).toEqual([]);
  expect(await hasNews()).toBe(false);
});

test('events published during claims are claimed once, by one of these claims or by the next', async () => {
  const { storage, claimed, hasNews } = await openStorage();
  const found: string[] = [];
  const rounds = 150;
  for (let round = 0; round < rounds; round += 1) {
    const publishing = published(storage, `${round}`);
    const beside = await Promise.all([0, 1, 2].map((claim) => claimed(`${round} ${claim}`)));
    await publishing;
    found.push(...beside.flat());
    // Claim once more: another claim may have locked the endpoint before, but now none does.
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
    await published(storage, `${round}`);
    const held = await claimedOne(storage, `held ${round}`);
    const next = { status: 'pending', dueAt: held.dueAt } as const;
    const back = { ...held, attempt: null, isCutOff: false, next };
    const later = now + leaseMs;
    const [counted, taken] = await Promise.all([
      storage.deliveries.finish([back]),
      claimed(`beside ${round}`, round % 2 === 0 ? now : later),
    ]);
    const rest = taken.length > 0 ? taken : await claimed(`next ${round}`, later);
    expect(rest).toEqual([held.id]);
    expect(counted[0] || taken.length > 0).toBe(true);
    for (const claimId of [`beside ${round}`, `next ${round}`])
      await storage.deliveries.finish([resultOf({ id: held.id, claimId, attempt: 1 })]);
  }
});
