import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ben } from '../support/directory.ts';
import { generousLimits, type TestClient, TestProvider } from '../support/provider.ts';

const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

describe('hints that are no ID token of this provider', () => {
  let provider: TestProvider;
  let client: TestClient;
  let genuine: {
    header: Record<string, unknown>;
    claims: Record<string, unknown>;
    signature: string;
    text: string;
  };
  let publicKeys: Record<string, unknown>[];
  beforeAll(async () => {
    provider = await TestProvider.start({ limits: generousLimits });
    client = await provider.client();
    const text = String((await provider.exchange(client, await provider.code(client))).json().id_token);
    const [header = '', claims = '', signature = ''] = text.split('.');
    const decoded = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString());
    genuine = { header: decoded(header), claims: decoded(claims), signature, text };
    const jwks = await (await fetch(`${provider.origin}/.well-known/jwks.json`)).json();
    publicKeys = (jwks as { keys: Record<string, unknown>[] }).keys;
  });
  afterAll(() => provider.stop());

  const claimsOf = (sub: string) => encoded({ ...genuine.claims, sub });

  /** What the client is told about a silent request with this hint. */
  async function outcome(hint: string): Promise<string | null> {
    const url = provider.authorizeUrl(client, { prompt: 'none', id_token_hint: hint });
    const { status, location } = await provider.browser().get(url);
    expect(status).toBe(303);
    const { origin, searchParams } = new URL(location ?? '');
    expect(origin).toBe('https://app.example');
    return searchParams.has('code') ? 'code' : searchParams.get('error');
  }

  it('the genuine one is taken', async () => {
    expect(await outcome(genuine.text)).toBe('code');
  });

  it('the algorithm none is refused, in any spelling', async () => {
    for (const alg of ['none', 'None', 'NONE', '', null, undefined, ['none']]) {
      const unsigned = `${encoded({ ...genuine.header, alg })}.${claimsOf(ben.sub)}.`;
      expect(await outcome(unsigned)).toBe('invalid_request');
      expect(await outcome(`${unsigned}${genuine.signature}`)).toBe('invalid_request');
    }
  });

  it('a public key does not verify as a shared secret', async () => {
    for (const key of publicKeys) {
      for (const secret of [JSON.stringify(key), String(key.n ?? key.x), client.secret ?? '']) {
        const input = `${encoded({ alg: 'HS256', kid: key.kid, typ: 'JWT' })}.${claimsOf(ben.sub)}`;
        const forged = `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`;
        expect(await outcome(forged)).toBe('invalid_request');
      }
    }
  });

  it('a key that the token brings along is not believed', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const jwk = publicKey.export({ format: 'jwk' });
    for (const header of [
      { jwk },
      { jku: 'https://evil.example/jwks.json' },
      { x5u: 'https://evil.example/' },
      { kid: '../../dev/null' },
      { crit: ['b64'], b64: false },
    ]) {
      const input = `${encoded({ ...genuine.header, ...header })}.${claimsOf(ben.sub)}`;
      const forged = `${input}.${sign('sha256', Buffer.from(input), privateKey).toString('base64url')}`;
      expect(await outcome(forged)).toBe('invalid_request');
    }
  });

  it('bent, cut and swollen ones are refused, and nothing breaks', async () => {
    const [header = '', claims = '', signature = ''] = genuine.text.split('.');
    const bent = [
      `${header}.${claimsOf(ben.sub)}.${signature}`,
      `${header}.${claims}.${signature.slice(0, -4)}`,
      `${header}.${claims}.`,
      `${header}..${signature}`,
      `${header}.${claims}`,
      `${genuine.text}.`,
      `${genuine.text}.x.y`,
      '..',
      '.',
      'a.b.c',
      '{}',
      'null',
      '__proto__',
      `${encoded(null)}.${encoded(null)}.`,
      `${encoded({ alg: 'RS256' })}.${encoded([])}.AAAA`,
      `${encoded({ alg: 'dir', enc: 'A128GCM' })}....`,
      'x'.repeat(8000),
      `${'.'.repeat(8000)}`,
    ];
    for (const hint of bent) expect(await outcome(hint), hint.slice(0, 60)).toBe('invalid_request');
    expect(provider.logged.filter(({ level }) => level === 'error')).toEqual([]);
  });
});
