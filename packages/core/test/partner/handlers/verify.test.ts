import { expect, it } from 'vitest';
import { passportLifetimeMs } from '../../../src/passports/passports.ts';
import { ana } from '../../support/directory.ts';
import { partnerProvider } from '../../support/partner-api.ts';
import { blamed } from '../refusal.ts';

const verify = 'POST /v1/partner/verify';

it('a passport shows its user, and when it was issued and expires', async () => {
  const { provider } = await partnerProvider();
  const key = await provider.key();
  const { token, issuedAt, expiresAt } = await provider.ostiary.passports.issue(ana.sub);
  const answer = await provider.partnerCall(key, verify, { token });
  expect([answer.status, answer.json()]).toMatchObject([
    200,
    {
      valid: true,
      user: { kid: ana.kid },
      issuedAt: issuedAt.toISOString(),
      expiresAt: expiresAt.toISOString(),
    },
  ]);
  expect(answer.text).not.toContain(ana.sub);
});

it('a passport is refused after it has expired, and an unknown one at once', async () => {
  const { provider } = await partnerProvider();
  const key = await provider.key();
  const { token } = await provider.ostiary.passports.issue(ana.sub);
  provider.clock.advance(passportLifetimeMs + 1);
  expect(blamed(await provider.partnerCall(key, verify, { token }), 422, 'token_expired')).toEqual([]);
  const forged = `${token.slice(0, -2)}AA`;
  const refused = await provider.partnerCall(key, verify, { token: forged });
  expect(blamed(refused)).toEqual(['token']);
});

it('a passport of the sandbox is refused for a live key, and a live one for a test key', async () => {
  const { provider } = await partnerProvider();
  const live = await provider.key();
  const test = await provider.key({ partner: live.partner, mode: 'test' });
  const minted = await provider.partnerCall(test, 'POST /v1/partner/sandbox/passports', {});
  const ofSandbox = { token: minted.json().token };
  const ofUser = { token: (await provider.ostiary.passports.issue(ana.sub)).token };
  const status = async (key: typeof live, body: object) =>
    (await provider.partnerCall(key, verify, body)).status;
  expect([await status(test, ofSandbox), await status(live, ofUser)]).toEqual([200, 200]);
  expect([await status(live, ofSandbox), await status(test, ofUser)]).toEqual([400, 400]);
});
