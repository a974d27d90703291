import { generateKeyPairSync, randomBytes, randomUUID } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { base64url, exportJWK, generateKeyPair, SignJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import type { Answer } from '../support/browser.ts';
import { athOf, dpopKey, type ProofChanges } from '../support/dpop.ts';
import { tokenRequest } from '../support/provider.ts';
import { startProvider } from '../support/running.ts';

const provider = await startProvider({ dpop: true });
const app = await provider.client();
const key = await dpopKey(provider);
const other = await dpopKey(provider);
const tokenPath = '/v1/oauth/token';
const seconds = () => Math.floor(provider.clock.now() / 1000);

const exchange = async (proof: string, code: string): Promise<Answer> =>
  provider.call(tokenPath, tokenRequest(app, code), { dpop: proof });

/** Joins a JWT header and claims with a signature that the caller chooses. */
const unsigned = (header: object, claims: object, signature = ''): string =>
  [JSON.stringify(header), JSON.stringify(claims)].map((part) => base64url.encode(part)).join('.') +
  `.${signature}`;

const claims = () => ({
  jti: randomUUID(),
  htm: 'POST',
  htu: `${provider.origin}${tokenPath}`,
  iat: seconds(),
});

/** Signs an otherwise correct DPoP proof with another kind of key. */
async function signedBy(alg: string, change: (jwk: object) => object = (jwk) => jwk): Promise<string> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  const jwk = change(await exportJWK(publicKey));
  return new SignJWT(claims()).setProtectedHeader({ alg, typ: 'dpop+jwt', jwk }).sign(privateKey);
}

const changed = (changes: ProofChanges) => () => key.proof('POST', tokenPath, changes);

const wrong: Readonly<Record<string, () => string | Promise<string>>> = {
  'no JWT': () => 'x',
  'an empty one': () => ' ',
  'of another type': changed({ header: { typ: 'JWT' } }),
  'without a type': changed({ header: { typ: undefined } }),
  'without a signature (alg none)': () => unsigned({ alg: 'none', typ: 'dpop+jwt', jwk: key.jwk }, claims()),
  'with a signature of another key': async () => {
    const [header, payload] = (await key.proof('POST', tokenPath)).split('.');
    const [, , signature] = (await other.proof('POST', tokenPath)).split('.');
    return `${header}.${payload}.${signature}`;
  },
  'with the key of another signer': changed({ header: { jwk: other.jwk } }),
  'without a key': changed({ header: { jwk: undefined } }),
  'with a private key': changed({ header: { jwk: key.privateJwk } }),
  'with a key ID instead of a key': changed({ header: { jwk: undefined, kid: 'k' } }),
  'signed with a secret (HS256)': async () => {
    const secret = randomBytes(32);
    const jwk = { kty: 'oct', k: secret.toString('base64url') };
    return new SignJWT(claims()).setProtectedHeader({ alg: 'HS256', typ: 'dpop+jwt', jwk }).sign(secret);
  },
  'signed with the public key as a secret': () =>
    new SignJWT(claims())
      .setProtectedHeader({ alg: 'HS256', typ: 'dpop+jwt', jwk: key.jwk })
      .sign(Buffer.from(JSON.stringify(key.jwk))),
  'signed by RS256': () => signedBy('RS256'),
  'signed by ES384': () => signedBy('ES384'),
  'signed with a key for encryption': () => signedBy('ES256', (jwk) => ({ ...jwk, use: 'enc' })),
  'with an RSA key of 1024 bits': () => {
    const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 1024 });
    const header = { alg: 'PS256', typ: 'dpop+jwt', jwk: publicKey.export({ format: 'jwk' }) };
    return unsigned(header, claims(), 'A'.repeat(171));
  },
  'without a jti': changed({ claims: { jti: undefined } }),
  'with an empty jti': changed({ claims: { jti: '' } }),
  'with a jti that is a number': changed({ claims: { jti: 7 } }),
  'without a method': changed({ claims: { htm: undefined } }),
  'for another method': changed({ claims: { htm: 'GET' } }),
  'for the method in lower case': changed({ claims: { htm: 'post' } }),
  'without an address': changed({ claims: { htu: undefined } }),
  'for another path': changed({ claims: { htu: `${provider.origin}/v1/oauth/userinfo` } }),
  'for a longer path': changed({ claims: { htu: `${provider.origin}${tokenPath}/` } }),
  'for another server': changed({ claims: { htu: `https://evil.example${tokenPath}` } }),
  'for another port': changed({ claims: { htu: `http://127.0.0.1:1${tokenPath}` } }),
  'for a path alone': changed({ claims: { htu: tokenPath } }),
  'for no http address': changed({ claims: { htu: 'urn:token' } }),
  'without a time': changed({ claims: { iat: undefined } }),
  'with a time as text': changed({ claims: { iat: '1' } }),
  'of more than a minute ago': () => changed({ claims: { iat: seconds() - 62 } })(),
  'of more than a minute ahead': () => changed({ claims: { iat: seconds() + 62 } })(),
  'that has expired by its own word': () => changed({ claims: { exp: seconds() - 10 } })(),
  'of more than 4096 characters': changed({ claims: { more: 'x'.repeat(4096) } }),
};

describe('a wrong proof', () => {
  it.each(Object.entries(wrong))('is refused at the token endpoint: %s', async (_, proof) => {
    const code = await provider.code(app);
    const refused = await exchange(await proof(), code);
    expect(refused.outcome).toBe('400 invalid_dpop_proof');
    expect((await exchange(await key.proof('POST', tokenPath), code)).status).toBe(200);
  });

  it('is refused in two headers, of which each is right', async () => {
    const code = await provider.code(app);
    const proofs = await Promise.all([key.proof('POST', tokenPath), key.proof('POST', tokenPath)]);
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const sent = httpRequest(
        `${provider.origin}${tokenPath}`,
        { method: 'POST', headers: { 'content-type': 'application/json', dpop: proofs } },
        (response) => {
          response.resume();
          resolve(response.statusCode);
        },
      );
      sent.on('error', reject).end(JSON.stringify(tokenRequest(app, code)));
    });
    expect(status).toBe(400);
  });

  it('never causes a fault of the service, whatever it is', async () => {
    const code = await provider.code(app);
    const right = await key.proof('POST', tokenPath);
    for (let round = 0; round < 500; round += 1) {
      const at = Math.floor(Math.random() * right.length);
      const letter = String.fromCharCode(33 + Math.floor(Math.random() * 93));
      const { status } = await exchange(right.slice(0, at) + letter + right.slice(at + 1), code);
      expect(status).toBeLessThan(500);
      if (status === 200) break;
    }
    expect(provider.errors).toEqual([]);
  });
});

describe('a right proof', () => {
  it.each([
    ['within a minute before now', () => ({ iat: seconds() - 59 })],
    ['within a minute after now', () => ({ iat: seconds() + 59 })],
    ['with a query and a fragment', () => ({ htu: `${provider.origin}${tokenPath}?a=b#c` })],
    [
      'with other spellings of the address',
      () => ({ htu: `HTTP://127.0.0.1:${new URL(provider.origin).port}/v1/./%6Fauth/token` }),
    ],
    ['with more claims', () => ({ nonce: 'n', more: 1 })],
  ])('is accepted %s', async (_, more) => {
    const proof = await key.proof('POST', tokenPath, { claims: more() });
    expect((await exchange(proof, await provider.code(app))).status).toBe(200);
  });

  it('is accepted once', async () => {
    const [first, second] = [await provider.code(app), await provider.code(app)];
    const proof = await key.proof('POST', tokenPath);
    expect((await exchange(proof, first)).status).toBe(200);
    expect((await exchange(proof, second)).outcome).toBe('400 invalid_dpop_proof');
    expect((await exchange(await key.proof('POST', tokenPath), second)).status).toBe(200);
  });

  it('counts once for a jti and a key: other keys may have the same jti', async () => {
    const same = { claims: { jti: 'the same' } };
    const results = [];
    for (const by of [key, other, key])
      results.push(
        (await exchange(await by.proof('POST', tokenPath, same), await provider.code(app))).status,
      );
    expect(results).toEqual([200, 200, 400]);
  });

  it('is not used up by a request that fails otherwise', async () => {
    const proof = await key.proof('POST', tokenPath);
    expect((await exchange(proof, 'no code')).outcome).toBe('400 invalid_grant');
    expect((await exchange(proof, await provider.code(app))).status).toBe(200);
  });

  it('is remembered for longer than it is accepted', async () => {
    const proof = await key.proof('POST', tokenPath, { claims: { iat: seconds() + 59 } });
    expect((await exchange(proof, await provider.code(app))).status).toBe(200);
    provider.clock.advance(118_000);
    await provider.ostiary.worker.runDue();
    expect((await exchange(proof, await provider.code(app))).outcome).toBe('400 invalid_dpop_proof');
  });
});

describe('a proof at userinfo', () => {
  const bound = async (): Promise<string> => {
    const code = await provider.code(app);
    return String((await exchange(await key.proof('POST', tokenPath), code)).json().access_token);
  };
  const userinfo = (headers: Record<string, string>) => provider.request('/v1/oauth/userinfo', { headers });

  it.each<readonly [string, (token: string) => ProofChanges]>([
    ['without the hash of the token', () => ({ claims: { ath: undefined } })],
    ['with the hash of another token', () => ({ claims: { ath: athOf('another') } })],
    ['with the token instead of its hash', (token) => ({ claims: { ath: token } })],
    ['for another method', () => ({ claims: { htm: 'POST' } })],
    ['for the token endpoint', () => ({ claims: { htu: `${provider.origin}${tokenPath}` } })],
    ['of two minutes ago', () => ({ claims: { iat: seconds() - 120 } })],
    ['with the key of another', () => ({ header: { jwk: other.jwk } })],
  ])('is refused %s', async (_, changes) => {
    const token = await bound();
    const refused = await userinfo(await key.forResource(token, undefined, changes(token)));
    expect([refused.status, refused.json().error]).toEqual([401, 'invalid_dpop_proof']);
    expect((await userinfo(await key.forResource(token))).status).toBe(200);
  });

  it('is refused when it is missing, and when it comes again', async () => {
    const token = await bound();
    const missing = await userinfo({ authorization: `DPoP ${token}` });
    expect([missing.status, missing.json().error]).toEqual([401, 'invalid_dpop_proof']);
    const headers = await key.forResource(token);
    expect((await userinfo(headers)).status).toBe(200);
    expect((await userinfo(headers)).status).toBe(401);
  });

  it('is refused with a token that has expired, whose challenge has the scheme DPoP', async () => {
    const token = await bound();
    provider.clock.advance(3600_000);
    const { status, headers } = await userinfo(await key.forResource(token));
    expect([status, headers.get('www-authenticate')?.startsWith('DPoP error="invalid_token"')]).toEqual([
      401,
      true,
    ]);
  });
});
