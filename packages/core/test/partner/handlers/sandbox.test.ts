import { expect, it } from 'vitest';
import { passportLifetimeMs } from '../../../src/passports/passports.ts';
import { sandboxUsers } from '../../../src/users/sandbox.ts';
import { partnerProvider } from '../../support/partner-api.ts';
import type { TestKey } from '../../support/provider.ts';
import { customConsole } from '../custom-console.ts';
import { blamed } from '../refusal.ts';

const mint = 'POST /v1/partner/sandbox/passports';
const [first] = sandboxUsers;

it('a sandbox passport is for the first user without a body, and for the user of a kid with one', async () => {
  const { provider } = await partnerProvider();
  const key = await provider.key({ mode: 'test' });
  const plain = await provider.partnerCall(key, mint);
  expect([plain.status, plain.json().kid]).toEqual([201, first?.kid]);
  for (const { kid } of sandboxUsers) {
    const { token } = (await provider.partnerCall(key, mint, { kid })).json();
    const verified = await provider.partnerCall(key, 'POST /v1/partner/verify', { token });
    expect(verified.json()).toMatchObject({ valid: true, user: { kid } });
  }
  const unknown = await provider.partnerCall(key, mint, { kid: 'KID-ANA' });
  expect(blamed(unknown, 404, 'not_found')).toEqual([]);
});

it('an expired sandbox passport is refused as an old one is', async () => {
  const { provider } = await partnerProvider();
  const key = await provider.key({ mode: 'test' });
  const { token, expiresAt } = (await provider.partnerCall(key, mint, { expired: true })).json();
  expect(Date.parse(String(expiresAt))).toBeLessThan(provider.clock.now());
  expect(Date.parse(String(expiresAt))).toBeGreaterThan(provider.clock.now() - passportLifetimeMs);
  const refused = await provider.partnerCall(key, 'POST /v1/partner/verify', { token });
  expect(blamed(refused, 422, 'token_expired')).toEqual([]);
});

it('a change of a sandbox user holds for its partner only, and once for one Idempotency-Key', async () => {
  const { provider, open } = await customConsole({ scope: 'identity:verify', testOnly: true });
  const [ours, theirs] = [await provider.key({ mode: 'test' }), await provider.key({ mode: 'test' })];
  const listed = async (key: TestKey) => {
    const { data } = await (await (await open(key))('listSandboxUsers')).json();
    return data.find(({ kid }: { kid: string }) => kid === first?.kid);
  };
  const { kycStatus, original } = await listed(ours);
  expect(original).toMatchObject({ kycStatus });
  const changed = kycStatus === 'rejected' ? 'approved' : 'rejected';
  const change = async (status: string, idempotencyKey: string) =>
    (await open(ours))('changeSandboxKyc', {
      path: { kid: first?.kid ?? '' },
      body: JSON.stringify({ kycStatus: status }),
      idempotencyKey,
    });
  const made = await change(changed, 'one');
  expect(await (await change(changed, 'one')).json()).toEqual(await made.json());
  expect((await change(kycStatus, 'one')).status).toBe(409);
  expect([(await listed(ours)).kycStatus, (await listed(theirs)).kycStatus]).toEqual([changed, kycStatus]);
});
