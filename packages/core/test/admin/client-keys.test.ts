import { exportJWK, generateKeyPair } from 'jose';
import { describe, expect, it } from 'vitest';
import type { NewClient } from '../../src/admin.ts';
import { assertionOf, clientKey, withAssertion } from '../support/client-keys.ts';
import { startProvider } from '../support/running.ts';

const provider = await startProvider({ privateKeyJwt: true, webhooks: { allowPrivateTargets: true } });
const admin = provider.ostiary.admin.clients;
const key = await clientKey();
const jwksUri = 'http://127.0.0.1:9/jwks';

const create = (changes: Partial<NewClient> = {}) =>
  admin.create({
    ...{ name: 'App', redirectUris: ['https://app.example/'], allowedScopes: ['openid'] },
    ...changes,
  });

describe('a client with keys', () => {
  it('has no secret, and is not public', async () => {
    const { client, clientSecret } = await create({ jwks: { keys: [key.publicJwk] } });
    expect(clientSecret).toBeNull();
    expect(client).toMatchObject({ public: false, secrets: [], jwks: { keys: [{ kid: 'key-1' }] } });
    expect((await create({ jwksUri })).client).toMatchObject({ public: false, secrets: [], jwksUri });
    await expect(admin.rotateSecret(client.clientId)).rejects.toThrow(
      'authenticates with keys: it has no secret',
    );
  });

  it('has of its keys what checks signatures, and nothing else', async () => {
    const full = { ...key.publicJwk, x5c: ['MIIB'], x5t: 'x', key_ops: ['verify'], owner: 'me' };
    const { client } = await create({ jwks: { keys: [full] } });
    expect(client.jwks).toEqual({ keys: [key.publicJwk] });
    expect(await admin.get(client.clientId)).toEqual(client);
  });

  it('may replace a client secret, and continues with other keys', async () => {
    const { client } = await create();
    const next = await clientKey('EdDSA', 'next');
    provider.clock.advance(1);
    const changed = await admin.update(client.clientId, { jwks: { keys: [key.publicJwk] } });
    expect(changed).toMatchObject({ secrets: [], public: false, jwks: { keys: [{ kid: 'key-1' }] } });
    provider.clock.advance(1);
    await admin.update(client.clientId, { jwks: { keys: [key.publicJwk, next.publicJwk] } });
    provider.clock.advance(1);
    expect(await admin.update(client.clientId, { jwks: null, jwksUri })).toMatchObject({
      jwks: null,
      jwksUri,
    });
    for (const changes of [{ jwksUri: null }, { jwks: null, jwksUri: null }])
      await expect(admin.update(client.clientId, changes)).rejects.toThrow('and would have none');
    const { entries } = await provider.ostiary.admin.audit.list({ target: `client:${client.clientId}` });
    expect(entries.map(({ details }) => details)).toEqual([
      { jwks: null, jwksUri, before: { jwks: ['key-1', 'next'], jwksUri: null } },
      { jwks: ['key-1', 'next'], before: { jwks: ['key-1'] } },
      { jwks: ['key-1'], before: { jwks: null } },
      expect.anything(),
    ]);
  });

  it('gets a secret instead, which works from then on, and its keys no longer do', async () => {
    for (const keys of [{ jwks: { keys: [key.publicJwk] } }, { jwksUri }]) {
      const { client } = await create(keys);
      provider.clock.advance(1);
      const replaced = await admin.rotateSecret(client.clientId, { replaceKeys: true });
      expect(replaced.client).toMatchObject({ jwks: null, jwksUri: null, public: false });
      expect(replaced.client.secrets).toHaveLength(1);
      const app = { id: client.clientId, secret: replaced.clientSecret, redirectUri: 'https://app.example/' };
      expect(await provider.redeem(app, await provider.code(app))).toBe('200 ok');
      const assertion = withAssertion(await assertionOf(provider, app, key));
      const keyed = { ...app, secret: null };
      expect(await provider.redeem(keyed, await provider.code(app), assertion)).toBe('401 invalid_client');
      const { entries } = await provider.ostiary.admin.audit.list({ target: `client:${client.clientId}` });
      expect(entries[0]).toMatchObject({
        action: 'client.rotate_secret',
        details: { overlapSeconds: 0, replaceKeys: true },
      });
    }
    const secret = await create();
    provider.clock.advance(1);
    const rotated = await admin.rotateSecret(secret.client.clientId, { replaceKeys: true });
    expect(rotated.client.secrets).toHaveLength(1);
  });

  it('may be a resource server', async () => {
    const settings = { resourceServer: true, redirectUris: [], allowedScopes: [] };
    const { client } = await create({ ...settings, jwks: { keys: [key.publicJwk] } });
    expect(client.resourceServer).toBe(true);
  });
});

describe('refused', () => {
  const of = (...keys: object[]) => ({ jwks: { keys } });
  const { publicJwk } = key;

  it('are keys that no signature is checked with, by the place of the key', async () => {
    const keysOf = async (alg: string, options: object) =>
      exportJWK((await generateKeyPair(alg, { extractable: true, ...options })).publicKey);
    const p384 = await keysOf('ES384', {});
    const [rsa, short] = await Promise.all([
      clientKey('PS256'),
      { kty: 'RSA', e: 'AQAB', n: Buffer.alloc(128, 0xff).toString('base64url') },
    ]);
    const refused: readonly (readonly [string, object])[] = [
      ['jwks.keys.0: is a private key', key.privateJwk],
      ['jwks.keys.0: is a private key', rsa.privateJwk],
      ['jwks.keys.0: is a private key', { kty: 'oct', k: 'c2VjcmV0' }],
      ['jwks.keys.0', p384],
      ['jwks.keys.0', { ...publicJwk, crv: 'secp256k1' }],
      ['jwks.keys.0: is no valid key', { ...publicJwk, x: publicJwk.y }],
      ['jwks.keys.0', { ...publicJwk, x: `${publicJwk.x}=` }],
      ['jwks.keys.0', { ...publicJwk, x: undefined }],
      ['jwks.keys.0', { ...publicJwk, alg: 'RS256' }],
      ['jwks.keys.0', { ...publicJwk, use: 'enc' }],
      ['jwks.keys.0', { ...publicJwk, key_ops: ['encrypt'] }],
      ['jwks.keys.0', { ...publicJwk, kid: '' }],
      ['jwks.keys.0', { ...publicJwk, kid: 'x'.repeat(256) }],
      ['jwks.keys.0', { ...publicJwk, kid: 7 }],
      ['jwks.keys.0', { ...rsa.publicJwk, alg: 'RS256' }],
      ['jwks.keys.0: has to have 2048 to 8192 bits', short],
      ['jwks.keys.0', { ...rsa.publicJwk, e: 'AQABAQABAQAB' }],
      ['jwks.keys.0', { ...rsa.publicJwk, n: 'x'.repeat(2000) }],
      ['jwks.keys.0', { kty: 'OKP', crv: 'X25519', x: publicJwk.x }],
      ['jwks.keys.0', { kty: 'OKP', crv: 'Ed448', x: publicJwk.x }],
      ['jwks.keys.0', {}],
    ];
    for (const [message, jwk] of refused)
      await expect(create(of(jwk)), JSON.stringify(jwk)).rejects.toThrow(message);
    await expect(create(of(publicJwk, p384))).rejects.toThrow('jwks.keys.1');
  });

  it('are sets without keys, with two of one id, or with 10,000', async () => {
    await expect(create(of())).rejects.toThrow('jwks.keys');
    await expect(create(of(publicJwk, publicJwk))).rejects.toThrow('two keys with the same kid');
    await expect(create(of(...Array(10_000).fill(publicJwk)))).rejects.toThrow('jwks.keys');
    for (const jwks of [[], 'x', { keys: 'x' }, { keys: ['x'] }])
      await expect(create({ jwks } as unknown as NewClient)).rejects.toThrow(TypeError);
  });

  it('are keys beside a secret, of a public client, or twice', async () => {
    for (const [changes, message] of [
      [{ ...of(publicJwk), jwksUri }, 'jwksUri: the client has jwks, and takes one of the two'],
      [{ ...of(publicJwk), public: true }, 'jwks: a public client has no keys'],
      [{ jwksUri, public: true }, 'jwksUri: a public client has no keys'],
      [{ ...of(publicJwk), clientSecret: 'x'.repeat(30) }, 'clientSecret: a client with keys has no secret'],
      [{ ...of(publicJwk), loopbackPorts: 'any' }, 'loopbackPorts: any port is for public clients only'],
    ] as const)
      await expect(create(changes)).rejects.toThrow(new TypeError(message));
    const { client } = await create({ public: true });
    await expect(admin.update(client.clientId, of(publicJwk))).rejects.toThrow('a public client has no keys');
  });

  it('are keys without the option', async () => {
    const without = (await startProvider()).ostiary.admin.clients;
    const settings = {
      name: 'App',
      redirectUris: ['https://app.example/'],
      allowedScopes: ['openid' as const],
    };
    for (const keys of [of(publicJwk), { jwksUri: 'https://app.example/jwks' }])
      await expect(without.create({ ...settings, ...keys })).rejects.toThrow(
        'needs the option privateKeyJwt',
      );
  });
});
