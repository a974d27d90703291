import { createHmac } from 'node:crypto';
import { inspect } from 'node:util';
import { expect, it } from 'vitest';
import type { Storage } from '../../src/storage.ts';
import { ana, Host } from '../support/directory.ts';
import { fragileStorage } from '../support/fragile-storage.ts';
import { partnerProvider, payment } from '../support/partner-api.ts';
import { body as endpoint, hooks, url, webhookProvider } from './webhook-shop.ts';

const phone = '+50937000001';

const shown = (value: unknown) => inspect(value, { depth: 10, maxStringLength: null, maxArrayLength: null });

/**
 * Uses API keys, passports and phone numbers, correctly and incorrectly. Returns these secrets, which neither the
 * log nor the storage may contain, with the log lines.
 */
async function useKeys(storage: Storage) {
  const { provider, rail } = await partnerProvider({ storage });
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
  const token = { token: passport.token };
  const byPhone = `GET /v1/partner/users/phone/${phone}`;
  const [pay, verify] = ['POST /v1/partner/payments', 'POST /v1/partner/verify'];
  for (const [status, by, target, sent, headers] of [
    [404, key, 'POST /v1/partner/sandbox/passports', {}],
    [201, key, pay, body, signed],
    [201, key, pay, body, signed],
    [401, key, pay, `${body} `, signed],
    [200, rolled.key, verify, token],
    [401, test, verify, token],
    [401, `${key.key}x`, 'GET /v1/partner/payments'],
    [200, key, byPhone],
    [400, key, `${byPhone}?a=b`],
  ] as const)
    expect((await provider.partnerCall(by, target, sent, headers)).status, target).toBe(status);
  // Cause failures, because they log the most.
  rail.answer = () => Promise.reject(new Error('the rail is down'));
  await provider.ostiary.worker.runDue();
  provider.host.people.set(ana.sub, { ...ana, country: 'nowhere' });
  expect((await provider.partnerCall(key, byPhone)).status).toBe(500);
  expect((await provider.partnerCall(key, verify, token)).status).toBe(500);
  const secrets = [key, test].flatMap(({ key: text, signingSecret }) => [text, signingSecret]);
  expect(provider.logged.filter(({ level }) => level === 'error').length).toBeGreaterThanOrEqual(2);
  return {
    secrets: [...secrets, rolled.key, rolled.signingSecret, passport.token, signature, phone],
    logged: shown(provider.logged),
    said: '',
  };
}

/** Uses webhook secrets, correctly and incorrectly. Returns these secrets with all responses and log lines. */
async function useWebhooks(storage: Storage) {
  const secrets = ['first-secret-of-the-endpoint', 'zweites Geheimnis: Schlüssel 🔑'];
  const { provider } = await webhookProvider({ storage });
  const key = await provider.key({ mode: 'test' });
  const said: string[] = [];
  const call = async (target: string, payload?: unknown, headers = {}) => {
    const answer = await provider.partnerCall(key, target, payload, headers);
    said.push(answer.text, JSON.stringify([...answer.headers]));
    return answer;
  };
  const keyed = { 'idempotency-key': 'k' };
  const { id } = (await call(`POST ${hooks}`, { ...endpoint, secret: secrets[0] }, keyed)).json();
  for (const [target, payload, headers] of [
    [`POST ${hooks}`, { ...endpoint, secret: secrets[0] }, keyed],
    [`POST ${hooks}`, { ...endpoint, secret: secrets[1] }, keyed],
    [`POST ${hooks}`, { ...endpoint, secret: secrets.join('').repeat(6) }],
    [`POST ${hooks}`, { url, events: [secrets[0]], secret: secrets[1] }],
    [`PATCH ${hooks}/${id}`, { secret: secrets[1] }],
    [`PATCH ${hooks}/${id}`, { secret: secrets[0], url: 'nonsense' }],
    ['POST /v1/partner/sandbox/events', { type: 'webhook.test' }],
  ] as const)
    await call(target, payload, headers);
  await provider.ostiary.worker.runDue();
  const lists = [hooks, `${hooks}/${id}`, `${hooks}/${id}/deliveries`, '/v1/partner/events'];
  for (const path of lists) await call(`GET ${path}`);
  await call(`DELETE ${hooks}/${id}`);
  return { secrets, logged: shown(provider.logged), said: said.join('\n') };
}

const forms = (secret: string) => [
  secret,
  encodeURIComponent(secret),
  JSON.stringify(secret).slice(1, -1),
  Buffer.from(secret).toString('base64').replace(/=+$/, ''),
  Buffer.from(secret).toString('base64url'),
  Buffer.from(secret).toString('hex'),
];

it.each([
  // Public texts that must be found, which proves that the search works.
  [
    'keys, signing secrets, passports and phone numbers',
    useKeys,
    'KID-ANA',
    '/v1/partner/users/phone/:phone',
  ],
  ['webhook secrets', useWebhooks, url, '"path":"secret"'],
] as const)(
  '%s are in no log line and no answer, and handed to no storage',
  async (_what, use, open, words) => {
    const database = fragileStorage();
    const { secrets, logged, said } = await use(database.storage);
    const given = shown(database.given);
    // A Buffer converts itself to a list of numbers before the replacer sees it.
    const bytes = JSON.stringify(database.given, function (this: Record<string, unknown>, name, value) {
      if (typeof value === 'bigint') return String(value);
      const raw = this[name];
      return raw instanceof Uint8Array ? Buffer.from(raw).toString('latin1') : value;
    });
    expect(given).toContain(open);
    expect(logged + said).toContain(words);
    for (const form of secrets.flatMap(forms))
      for (const text of [logged, said, given, bytes]) expect(text).not.toContain(form);
    expect(said).not.toMatch(/"(sealedS|s)ecret":/);
  },
);

it('a webhook secret is sealed in another way each time', async () => {
  const database = fragileStorage();
  await useWebhooks(database.storage);
  const sealed = new Set(shown(database.given).match(/(?<=sealedSecret: ')[^']+/g));
  expect(sealed.size).toBeGreaterThanOrEqual(2);
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
  // The log still has the position of the host's error.
  expect(logged).toMatch(/\n +at Object\.findByPhone .*secrets\.test\.ts/);
});
