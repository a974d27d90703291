import { createHmac } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { inspect } from 'node:util';
import { sqliteStorage } from '@ostiary/adapter-sqlite';
import { memoryStorage } from '@ostiary/testing/memory';
import { describe, expect, it } from 'vitest';
import { memoryApiKeys } from '../../../testing/src/memory/api-keys.ts';
import { memoryIdempotency } from '../../../testing/src/memory/idempotency.ts';
import { memoryPartners } from '../../../testing/src/memory/partners.ts';
import { memoryRateLimits } from '../../../testing/src/memory/rate-limits.ts';
import { emptyTables } from '../../../testing/src/memory/tables.ts';
import { memoryTransfers } from '../../../testing/src/memory/transfers.ts';
import type { Storage } from '../../src/storage.ts';
import { ana, Host } from '../support/directory.ts';
import { partnerProvider, payment, temporaryDatabase } from '../support/partner-api.ts';

const phone = '+50937000001';

/** Uses everything there is, rightly and wrongly, and answers what must not turn up anywhere. */
async function useEverything(storage: Storage): Promise<{ secrets: string[]; logged: string }> {
  const host = new Host();
  const { provider, rail } = await partnerProvider({ storage }, host);
  const [key, test] = [await provider.key(), await provider.key({ mode: 'test', requireSignature: true })];
  const rolled = await provider.ostiary.admin.apiKeys.roll(key.id);
  const passport = await provider.ostiary.passports.issue(ana.sub);
  const body = JSON.stringify({ ...payment, recipient: { phone } });
  const signature = createHmac('sha256', key.signingSecret).update(body).digest('hex');
  const signed = {
    'x-svc-signature': signature,
    'x-svc-timestamp': String(provider.clock.now()),
    'idempotency-key': 'order-1',
  };
  const minted = await provider.partnerCall(key, 'POST /v1/partner/sandbox/passports', {});
  expect(minted.status).toBe(404);
  await provider.partnerCall(key, 'POST /v1/partner/payments', body, signed);
  await provider.partnerCall(key, 'POST /v1/partner/payments', body, signed);
  await provider.partnerCall(key, 'POST /v1/partner/payments', `${body} `, signed);
  await provider.partnerCall(rolled.key, 'POST /v1/partner/verify', { token: passport.token });
  await provider.partnerCall(test, 'POST /v1/partner/verify', { token: passport.token });
  await provider.partnerCall(`${key.key}x`, 'GET /v1/partner/payments');
  await provider.partnerCall(key, `GET /v1/partner/users/phone/${phone}`);
  await provider.partnerCall(key, `GET /v1/partner/users/phone/${phone}?a=b`);
  // What goes wrong is logged most.
  rail.answer = () => Promise.reject(new Error('the rail is down'));
  await provider.ostiary.worker.runDue();
  host.people.set(ana.sub, { ...ana, country: 'nowhere' });
  expect((await provider.partnerCall(key, `GET /v1/partner/users/phone/${phone}`)).status).toBe(500);
  expect((await provider.partnerCall(key, 'POST /v1/partner/verify', { token: passport.token })).status).toBe(
    500,
  );
  const secrets = [key, test].flatMap(({ key: text, signingSecret }) => [text, signingSecret]);
  expect(provider.logged.filter(({ level }) => level === 'error').length).toBeGreaterThanOrEqual(2);
  const logged = inspect(provider.logged, { depth: 10, maxStringLength: null, maxArrayLength: null });
  return { secrets: [...secrets, rolled.key, rolled.signingSecret, passport.token, signature], logged };
}

const forms = (secret: string) => [
  secret,
  Buffer.from(secret).toString('base64').replace(/=+$/, ''),
  Buffer.from(secret).toString('hex'),
];

describe('keys, signing secrets and passports', () => {
  it('are in no log line, nor is a phone number', async () => {
    const { secrets, logged } = await useEverything(memoryStorage());
    expect(logged.length).toBeGreaterThan(500);
    expect(logged).toContain('/v1/partner/users/phone/:phone');
    for (const secret of secrets) for (const form of forms(secret)) expect(logged).not.toContain(form);
    for (const form of [phone, encodeURIComponent(phone), phone.slice(1)]) expect(logged).not.toContain(form);
  });

  it('are nowhere in the files of a SQLite database', async () => {
    const file = temporaryDatabase();
    const { secrets } = await useEverything(sqliteStorage({ file }));
    const folder = dirname(file);
    const bytes = Buffer.concat(readdirSync(folder).map((name) => readFileSync(join(folder, name))));
    // The look is a good one: what is stored openly is found.
    expect(bytes.includes('KID-ANA')).toBe(true);
    expect(bytes.includes('order-1')).toBe(true);
    for (const secret of secrets) for (const form of forms(secret)) expect(bytes.includes(form)).toBe(false);
    expect(bytes.includes(phone)).toBe(false);
  });

  it('are nowhere in the memory of a storage', async () => {
    const tables = emptyTables();
    const step = async <Result>(work: (rows: typeof tables) => Result): Promise<Result> => work(tables);
    const storage: Storage = {
      ...memoryStorage(),
      partners: memoryPartners(step),
      apiKeys: memoryApiKeys(step),
      transfers: memoryTransfers(step),
      idempotency: memoryIdempotency(step),
      rateLimits: memoryRateLimits(step),
    };
    const { secrets } = await useEverything(storage);
    const dump = inspect(tables, { depth: 10, maxStringLength: null, maxArrayLength: null });
    expect(dump).toContain('KID-ANA');
    for (const secret of secrets) for (const form of forms(secret)) expect(dump).not.toContain(form);
    expect(dump).not.toContain(phone);
  });

  it('a phone number that the host puts into its errors is taken out of them', async () => {
    const host = new Host();
    const findByPhone = (asked: string) =>
      Promise.reject(Object.assign(new Error(`no row for ${asked}`), { asked }));
    const { provider } = await partnerProvider({ users: { ...host.users, findByPhone } }, host);
    const answer = await provider.partnerCall(await provider.key(), `GET /v1/partner/users/phone/${phone}`);
    expect(answer.status).toBe(500);
    const logged = inspect(provider.logged, { depth: 10 });
    expect(logged).toContain('no row for +[redacted]');
    expect(logged).not.toContain(phone.slice(1));
    // Where the host threw is still told.
    expect(logged).toMatch(/\n +at Object\.findByPhone .*secrets\.test\.ts/);
  });
});
