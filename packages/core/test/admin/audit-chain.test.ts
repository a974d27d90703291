import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sqliteStorage } from '@ostiary/adapter-sqlite';
import { memoryStorage } from '@ostiary/testing/memory';
import Sqlite from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { verifyAudit } from '../../src/admin/audit-chain.ts';
import { actDigest } from '../../src/audit/acts.ts';
import type { StoredAct } from '../../src/storage.ts';
import { partnerProvider, temporaryDatabase } from '../support/partner-api.ts';

const folder = mkdtempSync(join(tmpdir(), 'audit-chain-'));
const original = join(folder, 'ostiary.db');
const sealingKeys = [randomBytes(32)];
afterAll(() => rmSync(folder, { recursive: true }));

/** Records twelve acts in the audit log: six of the administration, and six of the host application. */
beforeAll(async () => {
  const { provider } = await partnerProvider({ storage: sqliteStorage({ file: original }), sealingKeys });
  const { admin } = provider.ostiary;
  const ana = admin.as('ana@example.com');
  await ana.partners.create({ slug: 'kafe', name: 'Kafe “Lakay” 🗝️' });
  await ana.partners.rename('kafe', 'Kafe');
  const issued = await ana.apiKeys.issue({ partner: 'kafe', mode: 'live', scopes: ['payments:read'] });
  await ana.apiKeys.revoke(issued.apiKey.id);
  for (let number = 1; number <= 6; number += 1) {
    await admin.audit.record({
      action: 'user.block',
      target: `user:${number}`,
      details: { number, why: { list: [1, null, 'x'], z: -0.5, a: true } },
    });
  }
  await ana.partners.disable('kafe');
  await admin.users.end('user-ana');
});

/**
 * Copies the database file, starts a provider on the copy, and returns functions that tamper with the copy's
 * audit log.
 */
async function written() {
  const file = temporaryDatabase();
  const copying = new Sqlite(original);
  copying.prepare('VACUUM INTO ?').run(file);
  copying.close();
  const { provider } = await partnerProvider({ storage: sqliteStorage({ file }), sealingKeys });
  const { admin } = provider.ostiary;
  const { head } = await admin.audit.verify();

  const forger = new Sqlite(file);
  onTestFinished(() => void forger.close());
  const forge = (sql: string) => forger.exec(sql);
  return { admin, head, forge };
}

type Tampering = readonly [name: string, sql: string, number: number | null, reason?: RegExp];

const written13 = (values: string) =>
  `INSERT INTO audit SELECT 'aud_forged', at, actor, role, action, target, details, ${values} FROM audit WHERE number = 12`;

/**
 * Ways in which a person with write access to the database could tamper with the audit log, each with the
 * number of the first act that the verification reports (`null` for none).
 */
const tamperings: readonly Tampering[] = [
  ['another actor', "UPDATE audit SET actor = 'eve' WHERE number = 3", 3],
  ['another role', "UPDATE audit SET role = 'owner' WHERE number = 3", 3],
  ['another action', "UPDATE audit SET action = 'user.end' WHERE number = 5", 5],
  ['another target', "UPDATE audit SET target = 'user:9' WHERE number = 5", 5],
  ['another time', 'UPDATE audit SET at = at + 1 WHERE number = 7', 7],
  ['another id', "UPDATE audit SET id = 'aud_' || hex(randomblob(12)) WHERE number = 2", 2],
  [
    'other details',
    `UPDATE audit SET details = replace(details, '"number":1', '"number":2') WHERE number = 5`,
    5,
  ],
  ['details taken away', "UPDATE audit SET details = '{}' WHERE number = 6", 6],
  ['a detail added', `UPDATE audit SET details = json_set(details, '$.more', 1) WHERE number = 6`, 6],
  [
    'a number turned into text',
    `UPDATE audit SET details = json_set(details, '$.number', '2') WHERE number = 6`,
    6,
  ],
  ['the first act removed', 'DELETE FROM audit WHERE number = 1', 2, /^number 1 is missing/],
  ['an act removed', 'DELETE FROM audit WHERE number = 6', 7, /^number 6 is missing/],
  ['several removed', 'DELETE FROM audit WHERE number BETWEEN 4 AND 8', 9, /^numbers 4 to 8 are missing/],
  ['the last act removed', 'DELETE FROM audit WHERE number = 12', null, /^number 12 is missing/],
  ['all acts removed', 'DELETE FROM audit', null, /^numbers 1 to 12 are missing/],
  [
    'an act removed, and the others moved up',
    'DELETE FROM audit WHERE number = 6; UPDATE audit SET number = -number WHERE number > 6; UPDATE audit SET number = -number - 1 WHERE number < 0; UPDATE audit_head SET number = 11',
    6,
  ],
  [
    'two acts in another order',
    'UPDATE audit SET number = 100 WHERE number = 4; UPDATE audit SET number = 4 WHERE number = 5; UPDATE audit SET number = 5 WHERE number = 100',
    4,
  ],
  [
    'two acts with each other’s words',
    'UPDATE audit SET target = (SELECT target FROM audit WHERE number = 6) WHERE number = 5',
    5,
  ],
  [
    'an act put in between',
    `UPDATE audit SET number = -number WHERE number > 3; UPDATE audit SET number = 1 - number WHERE number < 0;
      INSERT INTO audit SELECT 'aud_forged', at, actor, role, action, target, details, 4, chain FROM audit WHERE number = 3;
      UPDATE audit_head SET number = 13`,
    4,
  ],
  ['an act put at the end', written13('13, chain'), 13, /comes after the end/],
  ['an act put at the end, with the end', `${written13('13, chain')}; UPDATE audit_head SET number = 13`, 13],
  [
    'an act put outside the chain',
    written13('NULL, NULL'),
    null,
    /^1 acts have no place in the chain, and 0 were there/,
  ],
  ['an act taken out', 'UPDATE audit SET number = NULL WHERE number = 8', 9, /^number 8 is missing/],
  ['another chain value', 'UPDATE audit SET chain = randomblob(32) WHERE number = 9', 9],
  ['another end', 'UPDATE audit_head SET chain = randomblob(32)', null, /^the end of the chain is not/],
];

describe('the chain of the audit log', () => {
  it('is valid as long as it is unchanged, and grows from head to head', async () => {
    const { admin, head } = await written();
    const first = await admin.audit.verify();
    expect(first).toEqual({ ok: true, acts: 12, before: 0, head });
    expect(head).toMatch(/^[0-9a-f]{64}$/);
    await admin.audit.record({ action: 'backup.restore', target: 'storage' });
    const next = await admin.audit.verify({ head });
    expect(next).toMatchObject({ ok: true, acts: 13 });
    expect(next.head).not.toBe(head);
    expect(await admin.audit.verify({ head: next.head })).toEqual(next);
  });

  it.each(tamperings.map((one) => [one[0], one] as const))(
    'shows %s',
    async (_name, [, sql, number, reason]) => {
      const { admin, forge } = await written();
      forge(sql);
      const verified = await admin.audit.verify();
      const words = expect.stringMatching(reason ?? /is not what was written/);
      expect(verified).toMatchObject({ ok: false, problem: { number, reason: words } });
      // Acts before the first wrong one are counted as verified.
      if (number !== null && reason === undefined) expect(verified.acts).toBe(number - 1);
    },
  );

  it('shows an end that was cut off well only to those who have kept a head', async () => {
    const { admin, head, forge } = await written();
    forge(`
      DELETE FROM audit WHERE number > 9;
      UPDATE audit_head SET number = 9, chain = (SELECT chain FROM audit WHERE number = 9)
    `);
    const cut = await admin.audit.verify();
    expect(cut).toMatchObject({ ok: true, acts: 9 });
    const reason = expect.stringMatching(/^the head that was given is not in/);
    const problem = { number: null, id: null, reason };
    expect(await admin.audit.verify({ head })).toMatchObject({ ok: false, acts: 9, problem });
    expect(await admin.audit.verify({ head: cut.head })).toMatchObject({ ok: true });
    for (const wrong of ['', 'x', head.slice(1), head.toUpperCase().replace(/\d/g, 'A')])
      await expect(admin.audit.verify({ head: wrong })).rejects.toThrow(TypeError);
  });

  it('is verified page by page, also while records are added', async () => {
    const storage = memoryStorage();
    await storage.open();
    const act = (number: number): StoredAct => ({
      id: `aud_${number}`,
      ...{
        at: number,
        actor: 'ana',
        role: null,
        action: 'user.block',
        target: 'user:1',
        details: { number },
      },
    });
    const append = (number: number) =>
      storage.audit.append({ ...act(number), digest: actDigest(act(number)) });
    for (let number = 1; number <= 1203; number += 1) await append(number);
    let pages = 0;
    const growing = {
      ...storage.audit,
      async chain(page: { readonly after: number; readonly limit: number }) {
        pages += 1;
        await append(10_000 + pages);
        return storage.audit.chain(page);
      },
    };
    expect(await verifyAudit(growing, null)).toMatchObject({ ok: true, acts: 1203 });
    expect(pages).toBe(4);
    expect(await verifyAudit(storage.audit, null)).toMatchObject({ ok: true, acts: 1207 });
  });

  it('has the same digest for any order of members that a database returns', () => {
    const act = { id: 'a', at: 1, actor: 'b', role: null, action: 'c', target: 'd' };
    const digestOf = (details: StoredAct['details']) => actDigest({ ...act, details }).toString('hex');
    expect(digestOf({ a: 1, b: { c: [1, 2], d: undefined } })).toBe(digestOf({ b: { c: [1, 2] }, a: 1 }));
    const values = [1, '1', [1], { 0: 1 }, null, [['b', 1]], { b: 1 }];
    const all = [{}, ...values.map((a) => ({ a }))];
    expect(new Set(all.map(digestOf)).size).toBe(all.length);
    expect(digestOf({})).not.toBe(
      actDigest({ ...act, actor: 'bc', action: '', details: {} }).toString('hex'),
    );
  });
});

it.each([
  ['half of a surrogate pair', 'Ana \ud83d'],
  ['U+0000', 'Ana\0'],
])('names and targets with %s are refused, because they would break the chain', async (_, text) => {
  const { admin } = await written();
  expect(() => admin.as(text)).toThrow(TypeError);
  expect(() => admin.as('ana', { role: text })).toThrow(TypeError);
  const act = { action: 'user.block', target: `user:${text}` };
  await expect(admin.audit.record(act)).rejects.toThrow(TypeError);
  await admin.audit.record({ action: 'user.block', target: 'user:1', details: { text } });
  expect((await admin.audit.verify()).ok).toBe(true);
});
