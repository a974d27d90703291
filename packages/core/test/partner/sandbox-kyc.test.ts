import { memoryStorage } from '@ostiary/testing/memory';
import { describe, expect, it } from 'vitest';
import { sandboxKycLifetimeMs } from '../../src/users/sandbox-kyc.ts';
import { type partnerProvider, storages } from '../support/partner-api.ts';
import type { Json, TestKey, TestProvider } from '../support/provider.ts';
import { customConsole } from './custom-console.ts';

const approved = 'KID-TEST-APPROVED';

const day = 24 * 3600_000;

/** Starts a provider with a test key, and a console that acts on behalf of the key. */
async function sandbox(options: Parameters<typeof partnerProvider>[0] = {}) {
  const { provider, database, open } = await customConsole({ scope: null, testOnly: false }, options);
  const key = await provider.key({ mode: 'test' });
  const call = await open(key);
  const change = async (body: Json, { kid = approved, as = call } = {}) => {
    const answer = await as('changeSandboxKyc', { path: { kid }, body: JSON.stringify(body) });
    const text = await answer.text();
    return { status: answer.status, text, eventId: answer.ok ? JSON.parse(text).eventId : undefined };
  };
  return { provider, database, key, open, change };
}

/**
 * Returns the state of a user's identity check as partners see it: by public id, by phone number and in a
 * passport, which must agree.
 */
async function seen(provider: TestProvider, by: TestKey, kid = approved, phone = '+50900000001') {
  const { token } = (await provider.partnerCall(by, 'POST /v1/partner/sandbox/passports', { kid })).json();
  const verified = (await provider.partnerCall(by, 'POST /v1/partner/verify', { token })).json();
  const users = [
    verified.user as Json,
    (await provider.partnerCall(by, `GET /v1/partner/users/${kid}`)).json(),
    (await provider.partnerCall(by, `GET /v1/partner/users/phone/${phone}`)).json(),
  ];
  const states = new Set(users.map(({ kycStatus, kycTier }) => `${kycStatus} ${kycTier}`));
  return [...states].join(' or ');
}

async function events(provider: TestProvider, by: TestKey): Promise<Json[]> {
  return (await provider.partnerCall(by, 'GET /v1/partner/events')).json().data as Json[];
}

describe.each(storages)('the identity check of a sandbox user on %s', (_name, storage) => {
  it('is changed for the test keys of one partner, in look-ups, verifications and the event', async () => {
    const { provider, key, change } = await sandbox({ storage: storage() });
    const [sibling, other] = [
      await provider.key({ mode: 'test', partner: key.partner }),
      await provider.key({ mode: 'test' }),
    ];
    const { eventId } = await change({ kycStatus: 'rejected' });
    const now = provider.clock.now();
    const changed = {
      kid: approved,
      kycStatus: 'rejected',
      kycTier: 0,
      previous: { kycStatus: 'approved', kycTier: 2 },
    };
    expect(await seen(provider, key)).toBe('rejected 0');
    expect(await seen(provider, sibling)).toBe('rejected 0');
    expect(await seen(provider, other)).toBe('approved 2');
    expect(await seen(provider, key, 'KID-TEST-PENDING', '+50900000002')).toBe('pending 1');
    const changedAt = new Date(now).toISOString();
    expect(await events(provider, key)).toEqual([
      {
        id: eventId,
        sequence: 1,
        type: 'kyc.updated',
        mode: 'test',
        createdAt: changedAt,
        data: { ...changed, changedAt },
      },
    ]);
    expect(await events(provider, other)).toEqual([]);
  });

  it('is as in the beginning after a week, or where it is changed back', async () => {
    const { provider, key, change } = await sandbox({ storage: storage() });
    await change({ kycStatus: 'pending' });
    expect(await seen(provider, key)).toBe('pending 1');
    await change({ kycStatus: 'approved' });
    expect(await seen(provider, key)).toBe('approved 2');
    await change({ kycStatus: 'pending' });
    expect(sandboxKycLifetimeMs).toBe(7 * day);
    provider.clock.advance(sandboxKycLifetimeMs - 1);
    expect(await seen(provider, key)).toBe('pending 1');
    provider.clock.advance(1);
    expect(await seen(provider, key)).toBe('approved 2');
    const told = (await events(provider, key)).map(({ data }) => (data as Json).kycStatus);
    expect(told).toEqual(['pending', 'approved', 'pending']);
  });
});

describe('a change of the identity check of a sandbox user', () => {
  it('that changes nothing causes no event', async () => {
    const { provider, key, change } = await sandbox();
    expect((await change({ kycStatus: 'approved' })).eventId).toBeNull();
    await change({ kycStatus: 'rejected' });
    expect((await change({ kycStatus: 'rejected' })).eventId).toBeNull();
    expect(await events(provider, key)).toHaveLength(1);
  });

  it('is one user’s: that of another does not undo it', async () => {
    const { provider, key, change } = await sandbox();
    await change({ kycStatus: 'pending' });
    await change({ kycStatus: 'approved' }, { kid: 'KID-TEST-REJECTED' });
    expect(await seen(provider, key)).toBe('pending 1');
    expect(await seen(provider, key, 'KID-TEST-REJECTED', '+50900000003')).toBe('approved 2');
  });

  it('works only in the sandbox, not for live keys, real users or unknown states', async () => {
    const { provider, open, change } = await sandbox();
    const live = await provider.key({ mode: 'live' });
    const refused = await change({ kycStatus: 'pending' }, { as: await open(live) });
    expect([refused.status, refused.text.includes('belongs to the sandbox')]).toEqual([404, true]);
    expect((await provider.partnerCall(live, 'GET /v1/partner/users/KID-ANA')).status).toBe(200);
    for (const kid of ['KID-ANA', 'KID-NOBODY', ' '])
      expect((await change({ kycStatus: 'pending' }, { kid })).status).toBe(404);
    for (const body of [{}, { kycStatus: 'unknown' }, { kycStatus: 'pending', role: 'admin' }])
      expect((await change(body)).status).toBe(400);
  });

  it('costs one storage call if the state is shown, and none elsewhere', async () => {
    const { provider, database, key, change } = await sandbox({ requestLog: 'off' });
    await change({ kycStatus: 'pending' });
    const asked = async (target: string, body?: Json) => {
      database.forget();
      expect((await provider.partnerCall(key, target, body)).status).toBeLessThan(300);
      return database.calls.filter((call) => call.startsWith('sandbox.'));
    };
    expect(await asked(`GET /v1/partner/users/${approved}`)).toEqual(['sandbox.find']);
    const recipient = { kid: approved };
    const paid = await asked('POST /v1/partner/payments', { amount: '1.00', currency: 'HTG', recipient });
    expect(paid).toEqual([]);
  });
});

it('what the sandbox and its console keep takes no room of users who sign in', async () => {
  const { provider, key, change, open } = await sandbox({ limits: { unfinishedInteractions: 2 } });
  await change({ kycStatus: 'pending' });
  await change({ kycStatus: 'rejected' }, { kid: 'KID-TEST-PENDING' });
  for (const _ of [1, 2, 3]) await open(key);
  provider.clock.advance(1_000);
  const client = await provider.client();
  const start = async () => (await provider.browser(null).get(provider.authorizeUrl(client))).status;
  expect([await start(), await start(), await start()]).toEqual([303, 303, 429]);
});

it('a change made by another process with the same key at the same time gets the response of that process', async () => {
  const storage = memoryStorage();
  const { publish } = storage.events;
  const answer = { status: 200, body: '{"eventId":"evt_of_another"}' };
  Object.assign(storage.events, {
    async publish(...[events, options]: Parameters<typeof publish>) {
      const { idempotency } = options;
      if (idempotency !== null) await publish([], { ...options, idempotency: { ...idempotency, answer } });
      return publish(events, options);
    },
  });
  const { provider, key, open } = await sandbox({ storage });
  const change = await open(key);
  const body = JSON.stringify({ kycStatus: 'rejected' });
  const made = await change('changeSandboxKyc', { path: { kid: approved }, body, idempotencyKey: 'form' });
  expect(await made.json()).toEqual({ eventId: 'evt_of_another' });
  expect(await events(provider, key)).toEqual([]);
});
