import { describe, expect, it } from 'vitest';
import { startProvider } from '../support/running.ts';

const provider = await startProvider();
const client = await provider.client();
const hour = 3_600_000;

async function expectJudgement(token: string, code: string, description: string): Promise<void> {
  const { outcome, headers } = await provider.userinfo(token);
  const challenge = `Bearer error="invalid_token", error_description="${description}"`;
  expect([token, outcome, headers.get('www-authenticate')]).toEqual([token, `401 ${code}`, challenge]);
}
const expectExpired = (token: string) =>
  expectJudgement(token, 'token_expired', 'The access token expired; a new authorization is required.');
const expectInvalid = (token: string) =>
  expectJudgement(token, 'invalid_token', 'The access token is invalid.');

describe('an access token', () => {
  it('is opaque: prefix and 256 random bits', async () => {
    const [one, two] = [await provider.token(client), await provider.token(client)];
    for (const token of [one, two]) expect(token).toMatch(/^svc_at_[A-Za-z0-9_-]{43}$/);
    expect(one).not.toBe(two);
  });

  it('is valid for 3600 seconds, token_expired for 24 hours, and invalid_token afterwards, purged or not', async () => {
    const { runDue } = provider.ostiary.worker;
    const token = await provider.token(client);
    provider.clock.advance(hour - 1);
    expect(await provider.isAlive(token)).toBe(true);
    provider.clock.advance(1);
    await expectExpired(token);
    provider.clock.advance(24 * hour - 1);
    await runDue();
    await expectExpired(token);
    provider.clock.advance(1);
    await expectInvalid(token);
    provider.clock.advance(hour);
    expect(await runDue()).toBe(1);
    await expectInvalid(token);
  });

  it('that was revoked is invalid_token, also once it would have expired', async () => {
    const token = await provider.token(client);
    await provider.revoke(token);
    await expectInvalid(token);
    provider.clock.advance(2 * hour);
    await expectInvalid(token);
  });

  it('is neither itself in another case, nor one of another service, a code, or a client secret', async () => {
    const token = await provider.token(client);
    const bent = [token.slice(0, 7) + token.slice(7).toUpperCase(), token.replace('svc', 'acme')];
    const others = [await provider.code(client), client.secret ?? '', 'eyJhbGciOiJub25lIn0.e30.', 'svc_at_'];
    for (const other of [...bent, ...others]) await expectInvalid(other);
  });
});

describe('no access token at all', () => {
  it.each(['GET', 'POST'])('at %s: 401 invalid_token, and a challenge without error', async (method) => {
    const token = await provider.token(client);
    for (const [query, headers] of [
      ['', {}],
      [`?access_token=${token}`, {}],
      ['', { cookie: `access_token=${token}` }],
    ] as const) {
      const answer = await provider.request(`/v1/oauth/userinfo${query}`, { method, headers });
      expect(answer.outcome).toBe('401 invalid_token');
      expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    }
  });

  it('but an Authorization header that holds it in another way is a malformed one', async () => {
    const token = await provider.token(client);
    const without = ['Basic abc', 'Bearer', 'Bearer ', 'Bearer a b'];
    const around = ['$', 'Token $', 'Basic $', 'DPoP $', 'Bearer$', 'Bearer $,', 'Bearer $ x'];
    for (const header of [...without, ...around, 'Bearer "$"', 'Bearer x $']) {
      const authorization = header.replace('$', token);
      const answer = await provider.request('/v1/oauth/userinfo', { headers: { authorization } });
      expect([header, answer.outcome]).toEqual([header, '401 invalid_token']);
      expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer error="invalid_token"/);
    }
  });
});
