import { exportJWK, type JWK } from 'jose';
import * as oauth from 'oauth4webapi';
import { expect } from 'vitest';
import {
  callUserinfo,
  checkUserinfoCall,
  type ResourceOptions,
  resourceHeaders,
} from '../../support/fapi/resource.ts';
import { signIn } from '../../support/fapi/sign-in.ts';
import type { SignedIn } from '../../support/fapi/tokens.ts';
import { randomText } from '../../support/suite.ts';
import { type Module, module } from '../module.ts';

type Attempts = Readonly<Record<string, ResourceOptions>>;

/** Removes members from the header of a DPoP proof, or replaces them. */
const header = (changes: Readonly<Record<string, unknown>>): ResourceOptions => ({
  changeProof: (members) => void Object.assign(members, changes),
});

/** Removes claims from a DPoP proof, or replaces them. */
const claims = (changes: Readonly<Record<string, unknown>>): ResourceOptions => ({
  changeProof: (_header, members) => void Object.assign(members, changes),
});

/** Changes one claim of a DPoP proof. */
const claim = (name: string, change: (value: string) => unknown): ResourceOptions => ({
  changeProof: (_header, members) => void Object.assign(members, { [name]: change(String(members[name])) }),
});

/** Changes a finished (signed) DPoP proof. */
const finished = (change: (proof: string) => string): ResourceOptions => ({
  changeHeaders: ({ dpop = '', ...rest }) => ({ ...rest, dpop: change(dpop) }),
});

const hour = 3_600;
const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Inverts the bits of a signature. */
const inverted = (signature: string): string =>
  Buffer.from(Buffer.from(signature, 'base64url').map((byte) => ~byte & 0xff)).toString('base64url');

/** DPoP proofs that are unusual but right. */
const accepted: Attempts = {
  'the header DPOP in capitals': { changeHeaders: ({ dpop, ...rest }) => ({ ...rest, DPOP: dpop }) },
  'htu with query and fragment': claim('htu', (htu) => `${htu}?page=2#top`),
  'htu without the query of the request': { query: '?page=2' },
  'unknown members': {
    changeProof: (members, more) => {
      members.tx_id = 'any';
      more.tx_id_key = 'any';
    },
  },
  'htu in capitals': claim('htu', (htu) => htu.replace(/^https:\/\/[^/]+/, (origin) => origin.toUpperCase())),
  'htu with the default port': claim('htu', (htu) => htu.replace(/^https:\/\/[^/]+/, '$&:443')),
};

/** DPoP proofs that are wrong for every key. */
const refused: Attempts = {
  'no JWT': finished((proof) => proof.split('.').slice(0, 2).join('.')),
  ...Object.fromEntries(['typ', 'alg', 'jwk'].map((name) => [`no ${name}`, header({ [name]: undefined })])),
  ...Object.fromEntries(
    ['jti', 'htm', 'htu', 'iat', 'ath'].map((name) => [`no ${name}`, claims({ [name]: undefined })]),
  ),
  'another typ': header({ typ: 'at+jwt' }),
  'alg none': finished((proof) => {
    const [, payload] = proof.split('.');
    return `${encoded({ alg: 'none', typ: 'dpop+jwt' })}.${payload}.`;
  }),
  'a wrong signature': finished((proof) => {
    const [first, payload, signature = ''] = proof.split('.');
    return [first, payload, inverted(signature)].join('.');
  }),
  'another htm': claims({ htm: 'PUT' }),
  'another htu': claim('htu', (htu) => `${htu}/other`),
  'an iat in an hour': claim('iat', (iat) => Number(iat) + hour),
  'an iat an hour ago': claim('iat', (iat) => Number(iat) - hour),
  'another ath': claim('ath', (ath) => ath.split('').toReversed().join('')),
  'no proof': { changeHeaders: ({ dpop: _, ...rest }) => rest },
  'no proof, as a bearer token': { keys: null },
};

/** Returns DPoP proofs that are wrong because of their keys. */
async function refusedKeys({ keys }: SignedIn): Promise<Attempts> {
  const privateJwk = await exportJWK(keys.privateKey);
  const publicJwk = await exportJWK(keys.publicKey);
  const rs256 = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' };
  const imported = (jwk: JWK, use: KeyUsage) =>
    crypto.subtle.importKey('jwk', { ...jwk, alg: 'RS256' } as JsonWebKey, rs256, true, [use]);
  const signer = await oauth.generateKeyPair('PS256');
  return {
    'alg RS256': {
      keys: {
        privateKey: await imported(privateJwk, 'sign'),
        publicKey: await imported(publicJwk, 'verify'),
      },
    },
    'a private key in the header': header({ jwk: privateJwk }),
    'the signature of another key': { keys: signer, ...header({ jwk: publicJwk }) },
  };
}

/** Conformance module about DPoP proofs at a protected resource. */
export const resourceProofs: readonly Module[] = [
  module(
    'fapi2-security-profile-final-dpop-negative-tests',
    'userinfo refuses a proof with any fault, a proof that was used before, two proofs, and no proof; it takes unusual but right ones',
    async (suite) => {
      const keys = await oauth.generateKeyPair('PS256', { extractable: true });
      const signedIn = await signIn(suite, { keys });
      const statusOf = async (options: ResourceOptions) => (await callUserinfo(signedIn, options)).status;

      for (const [name, options] of Object.entries(accepted))
        expect.soft(await statusOf(options), name).toBe(200);
      for (const [name, options] of Object.entries({ ...refused, ...(await refusedKeys(signedIn)) }))
        expect.soft([400, 401], name).toContain(await statusOf(options));
      const { dpop: another = '' } = await resourceHeaders(signedIn);
      const twoProofs: ResourceOptions = {
        changeHeaders: ({ dpop = '', ...rest }) => ({ ...rest, dpop: [dpop, another] }),
      };
      expect([400, 401]).toContain(await statusOf(twoProofs));
      const fixed = claims({ jti: randomText() });
      expect(await statusOf(fixed)).toBe(200);
      expect([400, 401]).toContain(await statusOf(fixed));
      checkUserinfoCall(signedIn, await callUserinfo(signedIn));
    },
  ),
];
