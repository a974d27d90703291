import { randomBytes } from 'node:crypto';
import { memoryStorage } from '@ostiary/testing/memory';
import { expect, it } from 'vitest';
import { z } from 'zod';
import type { NewApiKey, NewClient } from '../../src/admin.ts';
import type { KycChange, OstiaryOptions, UserRecord, WebhookOptions } from '../../src/index.ts';
import { scopeNames, silentLogger } from '../../src/index.ts';
import { userinfoOf } from '../../src/oauth/userinfo.ts';
import { parseOptions } from '../../src/options.ts';
import { ana, Host } from '../support/directory.ts';
import { partnerProvider, TestRail } from '../support/partner-api.ts';
import { expectPlain, spoiled, wrongValues } from './wrong.ts';

/** The words of what is thrown now or later; '' where nothing is. */
async function wordsOf(work: () => unknown): Promise<string> {
  try {
    await work();
    return '';
  } catch (error) {
    // Anything else would be a defect that happens to have words.
    expect.soft(error, String(error)).toBeInstanceOf(Error);
    return error instanceof Error ? error.message : '';
  }
}

type Wrong = Iterable<readonly [path: string, input: unknown]>;

/**
 * Does something with each wrong input: whatever is said is in plain words and names the field, not "the input". Answers
 * how much was refused.
 */
async function refusals(wrong: Wrong, work: (input: never) => unknown, { begins = /^/, unless = /^$/ } = {}) {
  let refused = 0;
  for (const [path, input] of wrong) {
    const message = await wordsOf(() => work(input as never));
    if (message === '' || unless.test(message)) continue;
    refused += 1;
    expectPlain(message, path);
    expect.soft(message, path).toMatch(begins);
    const isNamed = path.split('.').some((name) => message.includes(name));
    expect.soft(isNamed, `${path}: ${message}`).toBe(true);
  }
  return refused;
}

const { provider } = await partnerProvider();
const { admin } = provider.ostiary;
await admin.partners.create({ slug: 'kafe', name: 'Kafe' });

const host = new Host();
const limit = { requests: 1, windowSeconds: 1 };
const store = { consume: async () => ({ allowed: true, remaining: 1, resetAt: 0 }) } as never;
const resolve = async () => [];

/** Every option there is; one that is added and not named here does not compile. */
const options: Required<OstiaryOptions> & { readonly webhooks: Required<WebhookOptions> } = {
  authUrl: 'http://localhost:3000',
  baseUrl: 'http://localhost:3000',
  issuer: 'http://localhost:3000',
  prefix: 'svc',
  storage: memoryStorage(),
  users: host.users,
  login: host.login,
  sealingKeys: [randomBytes(32)],
  trustedProxies: ['10.0.0.0/8'],
  theme: { name: 'Acme', logo: '/logo.svg', colour: '#1a4f8b' },
  hostTimeoutSeconds: 10,
  interactionUrl: (id) => `/consent/${id}`,
  limits: { authorizeStarts: 1, failedClientAuthentications: 1, unfinishedInteractions: 1 },
  payments: new TestRail(),
  partnerLimits: {
    per: 'key',
    store,
    verify: limit,
    payments: limit,
    users: limit,
    reconciliation: limit,
    other: limit,
  },
  webhooks: {
    allowPrivateTargets: true,
    retryDelaysSeconds: [60],
    concurrency: 1,
    retentionDays: 1,
    resolve,
  },
  events: {
    'order.shipped': { summary: 's', schema: z.object({ orderId: z.string() }), example: { orderId: 'o' } },
  },
  console: { opensWith: { scope: 'webhooks', testOnly: true }, pages: () => [] },
  telemetry: false,
  clock: { now: () => 0 },
  logger: silentLogger,
};

it('what is said of a wrong option names it in plain words', async () => {
  expect(await wordsOf(() => parseOptions(options))).toBe('');
  // The members of a storage are the host's.
  const { storage, ...rest } = options;
  const wrongStorages = wrongValues.map((wrong) => ['storage', { ...options, storage: wrong }] as const);
  const parse = (changed: object) => parseOptions({ storage, ...changed } as OstiaryOptions);
  const wrong = [...spoiled(rest, wrongValues), ...wrongStorages];
  expect(await refusals(wrong, parse, { begins: /^createOstiary: / })).toBeGreaterThan(600);
});

const client: Required<NewClient> = {
  name: 'App',
  redirectUris: ['https://app.example/cb'],
  allowedScopes: ['openid'],
  requirePkce: false,
  requireSecret: false,
  firstParty: false,
  idTokenAlg: 'RS256',
  partner: null,
  public: false,
  clientId: 'app',
};
const apiKey: Required<NewApiKey> = {
  partner: 'kafe',
  mode: 'test',
  name: 'a key',
  scopes: ['webhooks'],
  allowlist: ['10.0.0.0/8'],
  requireSignature: false,
  expiresAt: new Date('2999-01-01'),
};
const change: Required<KycChange> = {
  sub: 's',
  kid: 'k',
  kycStatus: 'approved',
  kycTier: 1,
  previous: { kycStatus: 'pending', kycTier: 0 },
  changedAt: new Date(0),
  partners: [],
};

it('what is said to an administrator names what is wrong in plain words, for every argument', async () => {
  const { users } = provider.ostiary;
  const owner = { partner: 'kafe', mode: 'test' } as const;
  const { apiKey: issued } = await admin.apiKeys.issue({ ...owner, scopes: ['webhooks'] });
  await admin.clients.create({ ...client, clientId: 'there' });
  type Call = (input: never) => unknown;
  const { public: _, clientId: _id, ...settings } = client;
  const objects: readonly (readonly [object, Call])[] = [
    [client, (input) => admin.clients.create(input)],
    [settings, (input) => admin.clients.update('there', input)],
    [apiKey, (input) => admin.apiKeys.issue(input)],
    [{ slug: 'other', name: 'Other' }, (input) => admin.partners.create(input)],
    [{ action: 'user.block', target: 't', details: { a: 'b' } }, (input) => admin.audit.record(input)],
    [change, (input) => users.kycChanged(input)],
  ];
  let refused = 0;
  for (const [right, call] of objects)
    refused += await refusals(spoiled(right, wrongValues), call, { unless: /there is (no|already)/ });
  const singles: readonly (readonly [string, Call])[] = [
    ['name', (input) => admin.partners.rename('kafe', input)],
    ['overlapSeconds', (overlapSeconds) => admin.apiKeys.roll(issued.id, { overlapSeconds })],
    ['overlapSeconds', (overlapSeconds) => admin.clients.rotateSecret('there', { overlapSeconds })],
    ['limit', (limit) => admin.clients.list({ limit })],
    ['limit', (limit) => admin.partners.list({ limit })],
    ['limit', (limit) => admin.audit.list({ limit })],
    ['limit', (limit) => admin.webhooks.deliveries(owner, { limit })],
    ['after', (after) => admin.audit.list({ after })],
    ['after', (after) => admin.webhooks.deliveries(owner, { after })],
  ];
  for (const [name, call] of singles) {
    const wrong = wrongValues.map((value) => [name, value] as const);
    refused += await refusals(wrong, call, { begins: new RegExp(`^${name}: `), unless: /has ended/ });
  }
  expect(refused).toBeGreaterThan(700);
}, 30_000);

it('what is said of a value is said once for each field, and of alternatives in one breath', async () => {
  const name = Array.from({ length: 200 }, () => 'n') as never;
  const created = await wordsOf(() => admin.partners.create({ slug: 'a-slug', name }));
  expect(created).toBe('name: has to be a string');
  const details = { a: () => 'wrong' } as never;
  const recorded = await wordsOf(() => admin.audit.record({ action: 'a.b', target: 't', details }));
  const kinds = 'a string, or a number, or true or false, or null, or a list, or an object';
  expect(recorded).toBe(`details.a: has to be ${kinds}`);
});

it('what is said of a user record of the host names the field in plain words', async () => {
  expect(await wordsOf(() => userinfoOf(ana, scopeNames))).toBe('');
  const show = (changed: UserRecord) => userinfoOf(changed, scopeNames);
  expect(await refusals(spoiled(ana, wrongValues), show, { begins: /^users\.find: / })).toBeGreaterThan(200);
});
