import { inspect } from 'node:util';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { scopeNames } from '../../src/index.ts';
import { rawPost, sendRaw } from '../attacks/raw.ts';
import { ana, ben } from '../support/directory.ts';
import { expectPlain } from '../support/plain-words.ts';
import { startProvider } from '../support/running.ts';

const provider = await startProvider();
const client = await provider.client();
const token = await provider.token(client, scopeNames.join(' '));
afterEach(() => {
  provider.host.people.set(ana.sub, ana);
});

const bearer = { authorization: `Bearer ${token}` };
const form = { 'content-type': 'application/x-www-form-urlencoded' };
const userinfo = (init: RequestInit) => provider.request('/v1/oauth/userinfo', init);

describe('the userinfo endpoint', () => {
  // The conformance suite covers the ways to send the token.
  it('takes the scheme in any case, beside another form, and looks for none in a GET, whatever media type that names', async () => {
    const types = ['application/x-www-form-urlencoded', 'application/json', 'text/plain'];
    for (const init of [
      ...types.map((type) => ({ headers: { ...bearer, 'content-type': type } })),
      { headers: { authorization: `bEARER ${token}` } },
      { method: 'POST', headers: { ...bearer, ...form }, body: 'other=1' },
    ]) {
      const answer = await userinfo(init);
      expect([answer.status, answer.json()]).toEqual([200, ana]);
      expect(answer.headers.get('cache-control')).toBe('no-store');
    }
  });

  it('takes a POST with the token in the header, whatever media type an empty body, or one that is no form, has', async () => {
    const types = [
      'application/json',
      'text/plain;charset=UTF-8',
      'application/octet-stream',
      'multipart/form-data',
      '',
    ];
    for (const type of types) {
      for (const body of ['', ...(type === 'application/json' ? ['{}'] : ['access_token=other'])]) {
        const answer = await userinfo({ method: 'POST', headers: { ...bearer, 'content-type': type }, body });
        expect([type, body, answer.status]).toEqual([type, body, 200]);
      }
    }
    for (const type of [...types, form['content-type']]) {
      const answer = await userinfo({ method: 'POST', headers: { 'content-type': type }, body: '' });
      expect([answer.outcome, answer.headers.get('www-authenticate')]).toEqual([
        '401 invalid_token',
        'Bearer',
      ]);
    }
    // An HTTP client that does not know the length of a body announces it in chunks, even if there are no
    // chunks.
    for (const type of [...types, form['content-type']]) {
      const headers = [
        'Transfer-Encoding: chunked',
        `Content-Type: ${type}`,
        `Authorization: Bearer ${token}`,
      ];
      const empty = rawPost('/v1/oauth/userinfo', headers, '0\r\n\r\n');
      expect([type, (await sendRaw(provider.origin, empty)).status]).toEqual([type, 200]);
    }
    const other = await userinfo({
      method: 'POST',
      headers: { 'content-type': 'text/plain' },
      body: 'access_token=x',
    });
    expect(other.status).toBe(415);
  });

  it('refuses it in header and form at once', async () => {
    const body = `access_token=${token}`;
    const answer = await userinfo({ method: 'POST', headers: { ...form, ...bearer }, body });
    expect(answer.outcome).toBe('400 invalid_request');
    expect(answer.headers.get('www-authenticate')).toBe('Bearer error="invalid_request"');
  });

  it('asks the host for exactly the approved scopes', async () => {
    const find = vi.fn(() => ana);
    const watching = await startProvider({ users: { find } });
    const narrow = await watching.token(await watching.client(), 'openid kyc');
    find.mockClear();
    await watching.userinfo(narrow);
    expect(find.mock.calls).toEqual([[ana.sub, new Set(['openid', 'kyc'])]]);
  });
});

it('a user whom the host no longer finds has tokens and codes that are refused, until the host finds them again', async () => {
  const code = await provider.code(client);
  provider.host.people.delete(ana.sub);
  provider.logged.length = 0;
  const answer = await provider.userinfo(token);
  expect(answer.outcome).toBe('401 invalid_token');
  expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer error="invalid_token"/);
  expect(await provider.redeem(client, code)).toBe('400 invalid_grant');
  const message = 'a code was refused: users.find does not know its sub';
  expect(provider.logged).toEqual([{ level: 'warn', message, fields: { client: client.id } }]);
  provider.host.people.set(ana.sub, ana);
  expect(await provider.isAlive(token)).toBe(true);
  expect(await provider.redeem(client, code)).toBe('200 ok');
});

const credential = { id: 'c', type: 't', issuedAt: '2025-01-01T00:00:00Z', expiresAt: null };

it.each([
  { kycTier: 0, kycStatus: 'pending', htgBalance: '0.00', trustScore: 0, activeCredentials: [] },
  { kycTier: 3, kycStatus: 'rejected', htgBalance: '-12.50', trustScore: 100, avatarUrl: null },
  { activeCredentials: [{ ...credential, expiresAt: '2026-01-01T00:00:00.000Z' }] },
  { createdAt: '2024-03-01T12:00:00Z', name: 'Zoë 🙂 <b>', htgBalance: '999999999999999.99' },
])('values that the contract allows pass as they are: %j', async (changes) => {
  provider.host.people.set(ana.sub, { ...ana, ...changes } as typeof ana);
  const answer = await provider.userinfo(token);
  expect([answer.status, answer.json()]).toEqual([200, { ...ana, ...changes }]);
});

describe('bad data of the host', () => {
  const leak = 'do-not-show-this';

  const bad: { readonly [field: string]: readonly unknown[] } = {
    kid: [7, '', 'añá'],
    role: [7, ''],
    country: ['ht', 'HTI'],
    createdAt: ['2024-03-01', '2024-03-01T12:00:00+01:00', new Date(0)],
    name: [['x']],
    handle: [7, ''],
    avatarUrl: ['javascript:alert(1)', '/ana.png'],
    kycTier: [4, 1.5, '2'],
    kycStatus: [leak],
    htgBalance: [1250, '1250', '01.00', '1.000'],
    usdBalance: ['1,00'],
    trustScore: [101, -1, 50.5],
    trustTier: [3],
    activeCredentials: [
      null,
      [{ ...credential, issuedAt: 'yesterday' }],
      [{ ...credential, expiresAt: undefined }],
    ],
  };
  const error_description = 'An unexpected condition prevented the request.';

  it.each(Object.entries(bad))(
    '%s: each of %j is a server_error with a log line that names the field, and nothing of it is shown',
    async (field, values) => {
      for (const value of values) {
        provider.host.people.set(ana.sub, { ...ana, [field]: value } as typeof ana);
        provider.logged.length = 0;
        const answer = await provider.userinfo(token);
        expect([answer.status, answer.json()]).toEqual([500, { error: 'server_error', error_description }]);
        const message = expect.stringMatching(`^users\\.find: ${field}:? `);
        const requestId = answer.headers.get('x-request-id');
        expect(provider.logged).toMatchObject([
          { level: 'error', fields: { requestId, path: '/v1/oauth/userinfo', err: { message } } },
        ]);
        expect(inspect(provider.logged, { depth: 9 })).not.toContain(leak);
        expectPlain(String(Reflect.get(provider.errors[0]?.fields ?? {}, 'err')), field);
      }
    },
  );

  it('never shows fields that the table does not know', async () => {
    const record = { ...ana, passwordHash: leak, activeCredentials: [{ ...credential, secret: leak }] };
    provider.host.people.set(ana.sub, record);
    const answer = await provider.userinfo(token);
    expect(answer.status).toBe(200);
    expect(answer.text).not.toContain(leak);
    expect(answer.json().activeCredentials).toEqual([credential]);
  });

  it('anything else than the user is a server_error at userinfo and at the exchange, and the code stays usable', async () => {
    const find = vi.fn<() => unknown>(() => ana);
    const other = await startProvider({ users: { find: find as never } });
    const app = await other.client();
    const good = await other.token(app);
    const code = await other.code(app);
    for (const bad of [() => ben, () => undefined, () => 'ana', () => Promise.reject(new Error(leak))]) {
      other.logged.length = 0;
      find.mockImplementation(bad);
      for (const answer of [await other.userinfo(good), await other.exchange(app, code)])
        expect([answer.outcome, answer.text]).toEqual([
          '500 server_error',
          expect.not.stringContaining(leak),
        ]);
      expect(other.errors).toHaveLength(2);
    }
    find.mockImplementation(() => ana);
    expect(await other.redeem(app, code)).toBe('200 ok');
  });
});
