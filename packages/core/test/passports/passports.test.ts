import { createHmac, randomBytes } from 'node:crypto';
import { decodeProtectedHeader } from 'jose';
import { describe, expect, it } from 'vitest';
import { createSealer } from '../../src/keys/sealing.ts';
import { systemRandom } from '../../src/secrets/random.ts';
import { ana } from '../support/directory.ts';
import { partnerProvider } from '../support/partner-api.ts';
import type { TestKey, TestProvider } from '../support/provider.ts';

const sealingKey = randomBytes(32);
const { provider } = await partnerProvider({ sealingKeys: [sealingKey] });
const key = await provider.key();
const issue = async (by = provider) => (await by.ostiary.passports.issue(ana.sub)).token;
const verify = (token: unknown, by: TestKey = key, at: TestProvider = provider) =>
  at.partnerCall(by, 'POST /v1/partner/verify', { token });
const mint = (by: TestKey, body: object) =>
  provider.partnerCall(by, 'POST /v1/partner/sandbox/passports', body);
const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

describe('a passport', () => {
  it('is verified with the identity of its user, as often as one likes', async () => {
    const { token, issuedAt, expiresAt } = await provider.ostiary.passports.issue(ana.sub);
    expect(expiresAt.getTime() - issuedAt.getTime()).toBe(300_000);
    for (let time = 0; time < 3; time += 1) {
      const answer = await verify(token);
      expect(answer.status).toBe(200);
      expect(answer.json()).toEqual({
        valid: true,
        user: { kid: 'KID-ANA', role: 'member', country: 'HT', kycStatus: 'approved', kycTier: 2 },
        issuedAt: issuedAt.toISOString(),
        expiresAt: expiresAt.toISOString(),
      });
    }
  });

  it('is valid for exactly five minutes, and then has another error than an unknown one', async () => {
    const token = await issue();
    provider.clock.advance(300_000);
    expect((await verify(token)).status).toBe(200);
    provider.clock.advance(1);
    expect((await verify(token)).outcome).toBe('422 token_expired');
  });

  it('ends when the clock goes back to before it was issued: for how long it was shown is unknown', async () => {
    const token = await issue();
    provider.clock.advance(-4_000);
    expect((await verify(token)).status).toBe(200);
    provider.clock.advance(-3_600_000);
    expect((await verify(token)).outcome).toBe('422 token_expired');
    expect((await verify(await issue())).status).toBe(200);
    provider.clock.advance(3_604_000);
  });

  it('belongs to its mode', async () => {
    const test = await provider.key({ mode: 'test' });
    const minted = await mint(test, { kid: 'KID-TEST-PENDING' });
    expect(minted.json()).toMatchObject({ kid: 'KID-TEST-PENDING' });
    expect((await verify(minted.json().token, test)).json()).toMatchObject({
      user: { kycStatus: 'pending', kycTier: 1 },
    });
    for (const answer of [await verify(await issue(), test), await verify(minted.json().token)]) {
      expect(answer.outcome).toBe('400 invalid_request');
      expect(answer.json().details).toMatchObject([{ path: 'token' }]);
    }
  });

  it('can be minted expired in the sandbox, for its users only', async () => {
    const test = await provider.key({ mode: 'test' });
    const expired = await mint(test, { expired: true });
    expect((await verify(expired.json().token, test)).status).toBe(422);
    expect((await mint(test, { kid: 'KID-ANA' })).status).toBe(404);
  });

  it('is issued for a user; for a removed user it is 404', async () => {
    for (const sub of ['', 'x'.repeat(256), undefined, 7])
      await expect(provider.ostiary.passports.issue(sub as string)).rejects.toThrow(TypeError);
    const token = await issue();
    provider.host.people.delete(ana.sub);
    expect((await verify(token)).outcome).toBe('404 not_found');
    provider.host.people.set(ana.sub, ana);
  });

  it('is neither an ID token nor an access token, nor the reverse', async () => {
    const client = await provider.client();
    const tokens = await provider.tokens(client);
    for (const token of [tokens.id_token, tokens.access_token])
      expect((await verify(token)).outcome).toBe('400 invalid_request');
    const token = await issue();
    expect(decodeProtectedHeader(token)).toEqual({ alg: 'HS256', typ: 'passport+jwt' });
    expect(await provider.isAlive(token)).toBe(false);
    expect(await provider.attempt(client, { id_token_hint: token, prompt: 'none' })).not.toBe('code');
    expect((await provider.request('/.well-known/jwks.json')).text).not.toMatch(/"(oct|HS256)"/);
  });

  it('of another service is refused, and one sealed with a previous key is accepted', async () => {
    const [old, current] = [randomBytes(32), randomBytes(32)];
    const { provider: other } = await partnerProvider();
    const { provider: before } = await partnerProvider({ sealingKeys: [old] });
    const { provider: after } = await partnerProvider({ sealingKeys: [current, old], clock: before.clock });
    const keyAfter = await after.key();
    expect((await verify(await issue(other), keyAfter, after)).status).toBe(400);
    expect((await verify(await issue(before), keyAfter, after)).status).toBe(200);
  });

  it('that was forged in any way is refused', async () => {
    const token = await issue();
    const [head = '', payload = '', signature = ''] = token.split('.');
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as object;
    // A text signed with the right key must still be a passport.
    const [right] = createSealer([sealingKey], systemRandom).derive('passports');
    const forge = (header: object, body: object = claims, secret: Buffer = right) => {
      const text = `${encode(header)}.${encode(body)}`;
      return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
    };
    const header = { alg: 'HS256', typ: 'passport+jwt' };
    expect((await verify(forge(header))).status).toBe(200);
    const typs = [undefined, 'JWT', 'PASSPORT+JWT'].map((typ) => ({ ...header, typ }));
    const headers = [{ alg: 'none' }, { alg: 'HS512' }, { crit: ['x'], x: 1 }].map((other) => ({
      ...header,
      ...other,
    }));
    const times = [{ iat: undefined }, { iat: '0' }];
    const origins = [{ iss: undefined }, { iss: 'ostiary' }, { mode: undefined }, { sub: undefined }];
    for (const wrong of [
      `${encode({ ...header, alg: 'none' })}.${payload}.`,
      ...[...typs, ...headers].map((other) => forge(other)),
      forge(header, claims, sealingKey),
      forge(header, claims, Buffer.alloc(32)),
      ...[...times, ...origins].map((other) => forge(header, { ...claims, ...other })),
      forge(header, [1]),
      `${head}.${encode({ ...claims, sub: 'user-ben' })}.${signature}`,
      ...[`${head}.${payload}.`, `${token}.x`, `${token}=`, ` ${token}`],
      ...['', 7, undefined, 'x'.repeat(4_097)],
    ])
      expect.soft((await verify(wrong)).outcome, String(wrong)).toBe('400 invalid_request');
  });
});
