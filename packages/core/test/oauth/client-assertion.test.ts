import { createHmac } from 'node:crypto';
import { base64url } from 'jose';
import { describe, expect, it } from 'vitest';
import {
  assertionOf,
  assertionType,
  clientKey,
  clientWithKeys,
  withAssertion,
} from '../support/client-keys.ts';
import { ana } from '../support/directory.ts';
import { basic, pkce } from '../support/provider.ts';
import { startProvider } from '../support/running.ts';

const provider = await startProvider({ privateKeyJwt: true, introspection: true, refreshTokens: {} });
const key = await clientKey();
const app = await clientWithKeys(provider, [key], { allowedScopes: ['openid', 'offline_access'] });
const other = await clientWithKeys(provider, [await clientKey()]);
/** Cryptographic key that belongs to no client. */
const stranger = clientKey();

/** Exchanges a new code, authenticated with an assertion. */
async function exchanged(assertion: string, changes: Record<string, unknown> = {}) {
  return provider.exchange(app, await provider.code(app), { ...withAssertion(assertion), ...changes });
}

/** Returns the reason that the log gives for the last refusal. */
const lastReason = () =>
  provider.logged
    .filter(({ message }) => message === 'a client could not be authenticated')
    .map(({ fields }) => String(Object(fields).reason))
    .at(-1);

const seconds = () => Math.floor(provider.clock.now() / 1000);

describe('an assertion of a client', () => {
  it.each(['ES256', 'PS256', 'EdDSA', 'Ed25519'])('authenticates it with %s', async (alg) => {
    const own = await clientKey(alg);
    const client = await clientWithKeys(provider, [own]);
    const answer = await provider.exchange(client, await provider.code(client), {
      ...withAssertion(await assertionOf(provider, client, own)),
    });
    expect(answer.outcome).toBe('200 ok');
    expect((await provider.userinfo(String(answer.json().access_token))).json().sub).toBe(ana.sub);
  });

  it('may name the issuer or an endpoint, alone or in a list of one, and its type', async () => {
    const endpoint = `${provider.origin}/v1/oauth/token`;
    for (const changes of [
      { claims: { aud: [provider.origin] } },
      { claims: { aud: endpoint } },
      { claims: { aud: [endpoint] } },
      { header: { typ: 'JWT' } },
      { header: { typ: 'client-authentication+jwt' } },
      { claims: { iat: undefined } },
      { claims: { nbf: seconds() + 20, iat: seconds() + 20 } },
      { claims: { exp: seconds() + 600 } },
      { claims: { exp: seconds() - 20 } },
      { header: { kid: undefined } },
    ])
      expect((await exchanged(await assertionOf(provider, app, key, changes))).outcome).toBe('200 ok');
  });

  it('is enough without client_id, in JSON and in a form', async () => {
    const assertion = () => assertionOf(provider, app, key);
    expect((await exchanged(await assertion(), { client_id: undefined })).outcome).toBe('200 ok');
    const form = new URLSearchParams({
      ...{ grant_type: 'authorization_code', redirect_uri: app.redirectUri, code: await provider.code(app) },
      ...{ client_assertion_type: assertionType, client_assertion: await assertion() },
    });
    expect((await provider.call('/v1/oauth/token', form)).outcome).toBe('200 ok');
  });

  it('authenticates refreshes and introspection, and may come along with a revocation', async () => {
    const assertion = async (client = app, of = key) =>
      withAssertion(await assertionOf(provider, client, of));
    const code = await provider.code(app, { scope: 'openid offline_access' });
    const tokens = (await provider.exchange(app, code, await assertion())).json();
    const refresh = async (sent: object) =>
      provider.call('/v1/oauth/token', {
        ...{ grant_type: 'refresh_token', client_id: app.id, refresh_token: tokens.refresh_token },
        ...sent,
      });
    expect((await refresh({})).outcome).toBe('401 invalid_client');
    const refreshed = await refresh(await assertion());
    expect(refreshed.outcome).toBe('200 ok');

    const apiKey = await clientKey('EdDSA');
    const api = await clientWithKeys(provider, [apiKey], {
      ...{ resourceServer: true, redirectUris: [], allowedScopes: [] },
    });
    const token = refreshed.json().access_token;
    const ask = async (sent: object) =>
      provider.call('/v1/oauth/introspect', { token, client_id: api.id, ...sent });
    expect((await ask(await assertion(api, apiKey))).json()).toMatchObject({
      active: true,
      client_id: app.id,
    });
    expect((await ask({})).outcome).toBe('401 invalid_client');
    expect((await ask(await assertion(app, key))).outcome).toBe('401 invalid_client');

    const revoked = await provider.call('/v1/oauth/revoke', { token, ...(await assertion()) });
    expect(revoked.outcome).toBe('200 ok');
    expect(await provider.isAlive(token)).toBe(false);
  });

  it('is checked with the right one of several keys, named or not', async () => {
    const keys = await Promise.all([
      clientKey('ES256', null),
      clientKey('ES256', null),
      clientKey('PS256', 'rsa'),
    ]);
    const client = await clientWithKeys(provider, keys);
    for (const one of keys) {
      const sent = withAssertion(await assertionOf(provider, client, one));
      expect(await provider.redeem(client, await provider.code(client), sent)).toBe('200 ok');
    }
  });
});

describe('an assertion that is refused', () => {
  const refused: readonly (readonly [string, string, () => Promise<string>])[] = [
    ['of another key', 'its signature is wrong', async () => assertionOf(provider, app, await stranger)],
    [
      'of a key that the client does not have, under its own id',
      'no key of the client fits it',
      async () => assertionOf(provider, app, await clientKey('ES256', 'key-2')),
    ],
    [
      'of another client, with its own key',
      'iss and sub have to be the client_id',
      async () => assertionOf(provider, other, key),
    ],
    ...(
      [
        ['another issuer', 'iss and sub have to be the client_id', { iss: 'someone' }],
        ['no issuer', 'iss: is missing', { iss: undefined }],
        ['no subject', 'sub: is missing', { sub: undefined }],
        ['another audience', 'aud has to be the issuer', { aud: 'https://other.example' }],
        ['the issuer with a slash', 'aud has to be the issuer', { aud: `${provider.origin}/` }],
        ['two audiences', 'aud: ', { aud: [provider.origin, 'https://other.example'] }],
        ['no audience', 'aud: ', { aud: undefined }],
        ['an empty list of audiences', 'aud: ', { aud: [] }],
        ['no end', 'exp: is missing', { exp: undefined }],
        ['an end that is a text', 'exp: ', { exp: '9999999999' }],
        ['an end that is over', 'it has expired', { exp: seconds() - 31 }],
        ['an end that is far ahead', 'its exp is more than 600 seconds ahead', { exp: seconds() + 700 }],
        ['a beginning in the future', 'it is from the future', { nbf: seconds() + 60 }],
        ['a time of issue in the future', 'it is from the future', { iat: seconds() + 60 }],
        ['no id', 'jti: is missing', { jti: undefined }],
        ['an empty id', 'jti: is empty', { jti: '' }],
        ['a long id', 'jti: ', { jti: 'x'.repeat(256) }],
        ['9 KiB', 'it has more than 8192 characters', { more: 'x'.repeat(9000) }],
      ] as const
    ).map(
      ([name, reason, claims]) =>
        [`with ${name}`, reason, () => assertionOf(provider, app, key, { claims })] as const,
    ),
    ...(
      [
        ['for another purpose', 'typ: is the type of another token', { typ: 'dpop+jwt' }],
        ['that is an ID token by its type', 'typ: ', { typ: 'passport+jwt' }],
      ] as const
    ).map(
      ([name, reason, header]) => [name, reason, () => assertionOf(provider, app, key, { header })] as const,
    ),
    ['that is no JWT', 'it is no JWT', async () => 'not.a.jwt'],
    ['that is empty in its parts', 'it is no JWT', async () => '..'],
  ];

  it.each(refused)('%s', async (_name, reason, assertion) => {
    const answer = await exchanged(await assertion());
    expect([answer.outcome, answer.json().error_description]).toEqual([
      '401 invalid_client',
      'Client authentication failed.',
    ]);
    expect(lastReason()).toContain(reason);
  });

  /** Signs an assertion with a header that an attacker chose. */
  const forged = (header: object, sign: (input: string) => string) => {
    const payload = {
      ...{ iss: app.id, sub: app.id, aud: provider.origin, jti: 'x', exp: seconds() + 60 },
    };
    const input = [header, payload].map((part) => base64url.encode(JSON.stringify(part))).join('.');
    return `${input}.${sign(input)}`;
  };

  it('that needs no key: alg none, and secrets that everybody knows', async () => {
    const { publicJwk } = key;
    for (const [header, secret] of [
      [{ alg: 'none' }, null],
      [{ alg: 'None' }, null],
      [{ alg: 'HS256' }, JSON.stringify(publicJwk)],
      [{ alg: 'HS256', kid: 'key-1' }, String(publicJwk.x)],
      [{ alg: 'HS256' }, ''],
    ] as const) {
      const assertion = forged(header, (input) =>
        secret === null ? '' : createHmac('sha256', secret).update(input).digest('base64url'),
      );
      expect((await exchanged(assertion)).outcome).toBe('401 invalid_client');
      expect(lastReason()).toContain('alg: ');
    }
  });

  it('whose header brings a key of its own, or critical members', async () => {
    const mine = await clientKey('ES256', 'mine');
    for (const header of [
      { jwk: mine.publicJwk, kid: undefined },
      { jku: 'https://evil.example/jwks', kid: 'mine' },
      { x5u: 'https://evil.example/cert', kid: 'mine' },
    ])
      expect((await exchanged(await assertionOf(provider, app, mine, { header }))).outcome).toBe(
        '401 invalid_client',
      );
    const critical = forged({ alg: 'ES256', kid: 'key-1', crit: ['exp'], exp: 1 }, () => 'AAAA');
    expect((await exchanged(critical)).outcome).toBe('401 invalid_client');
    expect(lastReason()).toContain('crit: ');
  });

  it('with RS256, or signed by a key of another kind', async () => {
    const rsa = await clientKey('RS256');
    expect((await exchanged(await assertionOf(provider, app, rsa))).outcome).toBe('401 invalid_client');
    expect(lastReason()).toContain('alg: ');
    const ed = await clientKey('EdDSA');
    expect((await exchanged(await assertionOf(provider, app, ed))).outcome).toBe('401 invalid_client');
    expect(lastReason()).toContain('no key of the client fits it');
  });

  it('that was used before, at any endpoint, until it ends', async () => {
    const assertion = await assertionOf(provider, app, key);
    expect((await exchanged(assertion)).outcome).toBe('200 ok');
    expect((await exchanged(assertion)).outcome).toBe('401 invalid_client');
    expect(lastReason()).toContain('it was used before');
    provider.clock.advance(85_000);
    expect((await exchanged(assertion)).outcome).toBe('401 invalid_client');
    // The same `jti` in the assertion of another client is not a repetition.
    const jti = 'an id that both use';
    const theirs = await clientKey();
    const them = await clientWithKeys(provider, [theirs]);
    for (const [client, of] of [[app, key] as const, [them, theirs] as const]) {
      const sent = withAssertion(await assertionOf(provider, client, of, { claims: { jti } }));
      expect(await provider.redeem(client, await provider.code(client), sent)).toBe('200 ok');
    }
  });

  it('is not used up where it was refused', async () => {
    const claims = { jti: 'once' };
    const wrong = await assertionOf(provider, app, await stranger, { claims });
    expect((await exchanged(wrong)).outcome).toBe('401 invalid_client');
    expect((await exchanged(await assertionOf(provider, app, key, { claims }))).outcome).toBe('200 ok');
  });

  it('of many at the same time, one is accepted', async () => {
    const assertion = await assertionOf(provider, app, key);
    const codes = await Promise.all([1, 2, 3, 4, 5, 6].map(() => provider.code(app)));
    const outcomes = await Promise.all(
      codes.map((code) => provider.redeem(app, code, withAssertion(assertion))),
    );
    expect(outcomes.filter((outcome) => outcome === '200 ok')).toHaveLength(1);
  });
});

describe('a client with keys', () => {
  it('authenticates in no other way: no secret, PKCE alone, nor nothing', async () => {
    const { verifier, bound } = pkce();
    const code = () => provider.code(app, bound);
    for (const changes of [
      { client_secret: 'x'.repeat(43), code_verifier: verifier },
      { code_verifier: verifier },
      {},
    ])
      expect(await provider.redeem(app, await code(), changes)).toBe('401 invalid_client');
    const answer = await provider.exchange(app, await code(), { code_verifier: verifier });
    expect(answer.json().error_description).toBe('This client has to authenticate with private_key_jwt.');
  });

  it('sends one kind of credentials at a time', async () => {
    const assertion = () => assertionOf(provider, app, key);
    const twice = '400 invalid_request';
    expect((await exchanged(await assertion(), { client_secret: 'x' })).outcome).toBe(twice);
    const body = {
      ...{ grant_type: 'authorization_code', code: 'x', redirect_uri: app.redirectUri },
      ...withAssertion(await assertion()),
    };
    const header = { authorization: basic(app.id, 'x') };
    expect((await provider.call('/v1/oauth/token', body, header)).outcome).toBe(twice);
    for (const changes of [
      { client_assertion_type: undefined },
      { client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:saml2-bearer' },
      { client_assertion: undefined },
    ])
      expect((await exchanged(await assertion(), changes)).outcome).toBe(twice);
  });

  it('is not taken for another client: client_id and assertion have to agree', async () => {
    const secret = await provider.client();
    for (const id of [other.id, secret.id, 'nobody', 'x'.repeat(300)])
      expect((await exchanged(await assertionOf(provider, app, key), { client_id: id })).outcome).toBe(
        '401 invalid_client',
      );
    // A client with a secret does not authenticate with an assertion that another client signed.
    const claims = { iss: secret.id, sub: secret.id };
    const sent = withAssertion(await assertionOf(provider, app, key, { claims }));
    expect(await provider.redeem(secret, await provider.code(secret), sent)).toBe('401 invalid_client');
    expect(lastReason()).toContain('the client has no keys');
  });

  it('fails as often as one with a secret may, counted together', async () => {
    const limited = await startProvider({ privateKeyJwt: true, limits: { failedClientAuthentications: 2 } });
    const client = await clientWithKeys(limited, [key]);
    const secret = await limited.client();
    const wrong = async () => withAssertion(await assertionOf(limited, client, await stranger));
    expect(await limited.redeem(client, 'x', await wrong())).toBe('401 invalid_client');
    expect(await limited.redeem(secret, 'x', { client_secret: 'wrong' })).toBe('401 invalid_client');
    expect(await limited.redeem(client, 'x', await wrong())).toBe('429 slow_down');
    const right = withAssertion(await assertionOf(limited, client, key));
    expect(await limited.redeem(client, 'x', right)).toBe('429 slow_down');
  });

  it('is refused when it is disabled, and when the option is taken away', async () => {
    const closed = await clientWithKeys(provider, [key]);
    await provider.ostiary.admin.clients.disable(closed.id);
    const sent = withAssertion(await assertionOf(provider, closed, key));
    expect(await provider.redeem(closed, 'x', sent)).toBe('401 invalid_client');
  });
});

describe('discovery', () => {
  const path = '/.well-known/openid-configuration';

  it('names the method and its algorithms', async () => {
    const algorithms = ['ES256', 'PS256', 'EdDSA', 'Ed25519'];
    expect((await provider.request(path)).json()).toMatchObject({
      token_endpoint_auth_methods_supported: [
        ...['client_secret_basic', 'client_secret_post', 'none', 'private_key_jwt'],
      ],
      token_endpoint_auth_signing_alg_values_supported: algorithms,
      revocation_endpoint_auth_methods_supported: expect.arrayContaining(['private_key_jwt']),
      revocation_endpoint_auth_signing_alg_values_supported: algorithms,
      introspection_endpoint_auth_methods_supported: [
        ...['client_secret_basic', 'client_secret_post', 'private_key_jwt'],
      ],
      introspection_endpoint_auth_signing_alg_values_supported: algorithms,
    });
  });

  it('does not without the option, which ignores assertions', async () => {
    const without = await startProvider();
    const { text } = await without.request(path);
    expect(text).not.toContain('private_key_jwt');
    expect(text).not.toContain('auth_signing_alg');
    const plain = await without.client();
    const sent = { client_assertion_type: 'x', client_assertion: 'y' };
    expect(await without.redeem(plain, await without.code(plain), sent)).toBe('200 ok');
  });
});
