import { describe, expect, it } from 'vitest';
import { startProvider } from '../support/running.ts';

const provider = await startProvider();
const client = await provider.client();
const hour = 3_600_000;

async function judged(token: string): Promise<readonly [string, string | null]> {
  const { outcome, headers } = await provider.userinfo(token);
  return [outcome, headers.get('www-authenticate')];
}

const expired = [
  '401 token_expired',
  'Bearer error="invalid_token", error_description="The access token expired; a new authorization is required."',
];
const invalid = [
  '401 invalid_token',
  'Bearer error="invalid_token", error_description="The access token is invalid."',
];

describe('an access token', () => {
  it('is opaque: prefix and 256 random bits', async () => {
    const [one, two] = [await provider.token(client), await provider.token(client)];
    for (const token of [one, two]) expect(token).toMatch(/^svc_at_[A-Za-z0-9_-]{43}$/);
    expect(one).not.toBe(two);
  });

  it('lives 3600 seconds, is token_expired for 24 hours, and invalid_token afterwards', async () => {
    const token = await provider.token(client);
    provider.clock.advance(hour - 1);
    expect(await provider.isAlive(token)).toBe(true);
    provider.clock.advance(1);
    expect(await judged(token)).toEqual(expired);
    provider.clock.advance(24 * hour - 1);
    expect(await judged(token)).toEqual(expired);
    provider.clock.advance(1);
    expect(await judged(token)).toEqual(invalid);
  });

  it('is told apart as expired until the purge removes it, and unknown after', async () => {
    const token = await provider.token(client);
    provider.clock.advance(25 * hour - 1);
    await provider.ostiary.worker.runDue();
    expect(await judged(token)).toEqual(expired);
    provider.clock.advance(hour);
    expect(await provider.ostiary.worker.runDue()).toBe(1);
    expect(await judged(token)).toEqual(invalid);
  });

  it('that was revoked is invalid_token, also once it would have expired', async () => {
    const token = await provider.token(client);
    await provider.revoke(token);
    expect(await judged(token)).toEqual(invalid);
    provider.clock.advance(2 * hour);
    expect(await judged(token)).toEqual(invalid);
  });

  it.each([
    'svc_at_',
    `svc_at_${'a'.repeat(43)}`,
    `svc_at_${'a'.repeat(42)}`,
    `svc_at_${'a'.repeat(44)}`,
    `SVC_AT_${'a'.repeat(43)}`,
    `acme_at_${'a'.repeat(43)}`,
    'eyJhbGciOiJub25lIn0.e30.',
    'x'.repeat(8_000),
  ])('that is unknown or malformed is invalid_token: %#', async (token) => {
    expect(await judged(token)).toEqual(invalid);
  });

  it('is neither itself in another case, nor a code, nor a client secret', async () => {
    const token = await provider.token(client);
    const others = [token.slice(0, 7) + token.slice(7).toUpperCase(), await provider.code(client)];
    for (const other of [...others, client.secret ?? '']) expect(await judged(other)).toEqual(invalid);
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
      expect([answer.outcome, answer.headers.get('www-authenticate')]).toEqual([
        '401 invalid_token',
        'Bearer',
      ]);
    }
  });

  it.each([
    'Basic abc',
    'Bearer',
    'Bearer ',
    'Bearer a b',
    '$',
    'Token $',
    'Basic $',
    'DPoP $',
    'Bearer$',
    'Bearer $,',
    'Bearer $ x',
    'Bearer "$"',
    'Bearer x $',
  ])('but Authorization: %s, with a token for $, is a malformed one', async (header) => {
    const authorization = header.replace('$', await provider.token(client));
    const answer = await provider.request('/v1/oauth/userinfo', { headers: { authorization } });
    expect(answer.outcome).toBe('401 invalid_token');
    expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer error="invalid_token"/);
  });
});
