import { describe, expect, it } from 'vitest';
import { sandboxKycLifetimeMs } from '../../src/users/sandbox-kyc.ts';
import { partnerProvider, storages } from '../support/partner-api.ts';
import type { Json, TestKey, TestProvider } from '../support/provider.ts';
import { blamed } from './refusal.ts';

const approved = 'KID-TEST-APPROVED';

const day = 24 * 3600_000;

/** A provider with the test keys of two partners, and what they do. */
async function sandbox(options: Parameters<typeof partnerProvider>[0] = {}) {
  const { provider, database } = await partnerProvider(options);
  const key = await provider.key({ mode: 'test' });
  const change = (body: Json, { by = key, kid = approved, headers = {} } = {}) =>
    provider.partnerCall(by, `POST /v1/partner/sandbox/users/${kid}/kyc`, body, headers);
  return { provider, database, key, change };
}

/** The identity check as a partner sees it: by public id, by phone number and on a passport, which have to agree. */
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
  it('is changed for the test keys of one partner: look-ups, verifications and the event tell it', async () => {
    const { provider, key, change } = await sandbox({ storage: storage() });
    const [sibling, other] = [
      await provider.key({ mode: 'test', partner: key.partner }),
      await provider.key({ mode: 'test' }),
    ];
    const answer = await change({ kycStatus: 'rejected' });
    const now = provider.clock.now();
    const changed = {
      kid: approved,
      kycStatus: 'rejected',
      kycTier: 0,
      previous: { kycStatus: 'approved', kycTier: 2 },
    };
    expect([answer.status, answer.json()]).toEqual([
      200,
      {
        ...changed,
        eventId: expect.stringMatching(/^evt_/),
        endsAt: new Date(now + sandboxKycLifetimeMs).toISOString(),
      },
    ]);
    expect(await seen(provider, key)).toBe('rejected 0');
    expect(await seen(provider, sibling)).toBe('rejected 0');
    expect(await seen(provider, other)).toBe('approved 2');
    expect(await seen(provider, key, 'KID-TEST-PENDING', '+50900000002')).toBe('pending 1');
    const changedAt = new Date(now).toISOString();
    expect(await events(provider, key)).toEqual([
      {
        id: answer.json().eventId,
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
    await change({ kycStatus: 'pending', kycTier: 3 });
    expect(await seen(provider, key)).toBe('pending 3');
    expect((await change({ kycStatus: 'approved' })).json()).toMatchObject({
      kycTier: 2,
      previous: { kycStatus: 'pending', kycTier: 3 },
      endsAt: null,
    });
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
  it('that changes nothing is told to nobody; the tier alone is a change', async () => {
    const { provider, key, change } = await sandbox();
    expect((await change({ kycStatus: 'approved' })).json()).toMatchObject({ eventId: null, endsAt: null });
    await change({ kycStatus: 'rejected' });
    expect((await change({ kycStatus: 'rejected' })).json().eventId).toBeNull();
    expect((await change({ kycStatus: 'rejected', kycTier: 1 })).json().eventId).not.toBeNull();
    expect(await events(provider, key)).toHaveLength(2);
  });

  it('is one user’s: two at the same time do not undo each other', async () => {
    const { provider, key, change } = await sandbox();
    await Promise.all([
      change({ kycStatus: 'pending' }),
      change({ kycStatus: 'approved' }, { kid: 'KID-TEST-REJECTED' }),
    ]);
    expect(await seen(provider, key)).toBe('pending 1');
    expect(await seen(provider, key, 'KID-TEST-REJECTED', '+50900000003')).toBe('approved 2');
  });

  it('is of the sandbox alone: not for live keys, real users, other states', async () => {
    const { provider, change } = await sandbox();
    const live = await provider.key({ mode: 'live' });
    expect(blamed(await change({ kycStatus: 'pending' }, { by: live }), 404, 'not_found')).toEqual([]);
    expect((await provider.partnerCall(live, 'GET /v1/partner/users/KID-ANA')).status).toBe(200);
    for (const kid of ['KID-ANA', 'KID-NOBODY', '%20'])
      expect(blamed(await change({ kycStatus: 'pending' }, { kid }), 404, 'not_found')).toEqual([]);
    const wrong: [Json, string[]][] = [
      [{}, ['kycStatus']],
      [{ kycStatus: 'unknown' }, ['kycStatus']],
      [{ kycStatus: 'pending', kycTier: 4 }, ['kycTier']],
      [{ kycStatus: 'pending', kycTier: 1.5 }, ['kycTier']],
      [{ kycStatus: 'pending', role: 'admin' }, ['role']],
    ];
    for (const [body, paths] of wrong)
      expect(blamed(await change(body), 400, 'invalid_request')).toEqual(paths);
  });

  it('costs one look at the storage where the state is shown, and none elsewhere', async () => {
    const { provider, database, key, change } = await sandbox({ requestLog: 'off' });
    await change({ kycStatus: 'pending' });
    const asked = async (target: string, body?: Json) => {
      database.forget();
      expect((await provider.partnerCall(key, target, body)).status).toBeLessThan(300);
      return database.calls.filter((call) => call.startsWith('interactions.'));
    };
    expect(await asked(`GET /v1/partner/users/${approved}`)).toEqual(['interactions.find']);
    const recipient = { kid: approved };
    const paid = await asked('POST /v1/partner/payments', { amount: '1.00', currency: 'HTG', recipient });
    expect(paid).toEqual([]);
  });
});
