/** A host whose code throws wherever it is asked: what a process says of it. `LOGGER` is `default` or `silent`. */

import { memoryStorage } from '@ostiary/testing/memory';
import { createOstiary, type OstiaryOptions, silentLogger } from '../../src/index.ts';

const authUrl = 'http://localhost:3000';
const card = { number: '4000-0000-0000-0002' };
let isBroken = false;

function failing(what: string): never {
  throw Object.assign(new TypeError(`${what} broke`, { cause: new RangeError(`why ${what} broke`) }), {
    card,
  });
}

const user = { sub: 'ana', kid: 'KID-ANA', role: 'member', country: 'HT', createdAt: '2026-01-01T00:00:00Z' };
const options: OstiaryOptions = {
  authUrl,
  storage: memoryStorage(),
  sealingKeys: [new Uint8Array(32).fill(7)],
  users: {
    find: () => (isBroken ? failing('users.find') : user),
    findByKid: () => (isBroken ? failing('users.findByKid') : user),
    findByPhone: () => user,
  },
  login: { authenticate: () => failing('login.authenticate'), loginUrl: () => '/login' },
  payments: { execute: async () => failing('payments.execute') },
  ...(process.env.LOGGER === 'silent' ? { logger: silentLogger } : {}),
};
const ostiary = await createOstiary(options);
await ostiary.admin.partners.create({ slug: 'acme', name: 'Acme' });
const { key } = await ostiary.admin.apiKeys.issue({
  partner: 'acme',
  mode: 'live',
  scopes: ['identity:verify', 'users:read', 'payments:write'],
});
const { token } = await ostiary.passports.issue('ana');

async function ask(path: string, body?: object): Promise<void> {
  const init = { method: 'POST', body: JSON.stringify(body) };
  const headers = { 'x-api-key': key, ...(body && { 'content-type': 'application/json' }) };
  const request = new Request(authUrl + path, { headers, ...(body && init) });
  const answer = await ostiary.fetch(request, { address: '192.0.2.1' });
  await answer.text();
  console.log(answer.status, path);
}

await ask('/v1/partner/payments', { amount: '5.00', currency: 'HTG', recipient: { kid: 'KID-ANA' } });
await ostiary.worker.runDue();
isBroken = true;
await ask('/account/apps');
await ask('/v1/partner/verify', { token });
await ask('/v1/partner/users/KID-ANA');
console.log(JSON.stringify({ key, token }));
await ostiary.close();
