import { importJWK, type JWK } from 'jose';
import { expect } from 'vitest';
import type { Suite } from '../support/suite.ts';
import { type Module, module } from './module.ts';

/** Members of a JWK that only the key's owner may know (RFC 7518, section 6). */
const privateMembers = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'];

async function checkKey(key: JWK): Promise<void> {
  expect(key.kid).toEqual(expect.stringMatching(/./));
  expect(privateMembers.filter((member) => member in key)).toEqual([]);
  const numbers = [key.n, key.e, key.x, key.y].filter((member) => member !== undefined);
  expect(numbers).toHaveLength(2);
  // RSA keys have at least 2,048 bits, and keys on elliptic curves at least 224 (FAPI 2.0, section 5.4.1).
  const [size = ''] = numbers;
  expect(Buffer.from(size, 'base64url').length * 8).toBeGreaterThanOrEqual(key.kty === 'RSA' ? 2048 : 224);
  for (const number of numbers) expect(number).toMatch(/^[A-Za-z0-9_-]+$/);
  expect(await importJWK(key, key.alg ?? 'RS256')).toBeDefined();
}

/**
 * Lists that the provider's metadata must have, each with a required member. The tests of core check the
 * complete lists.
 */
const lists = {
  response_types_supported: 'code',
  grant_types_supported: 'authorization_code',
  subject_types_supported: 'public',
  id_token_signing_alg_values_supported: 'RS256',
  claims_supported: 'sub',
  code_challenge_methods_supported: 'S256',
  scopes_supported: 'openid',
  ui_locales_supported: 'en',
};

/**
 * Checks the keys with which the provider signs: the keys are public, valid, long enough, and have different
 * ids.
 */
export async function checkKeys({ jwks: { keys } }: Suite): Promise<void> {
  expect(new Set(keys.map(({ kid }) => kid)).size).toBe(keys.length);
  expect(keys.some(({ kty }) => kty === 'RSA')).toBe(true);
  for (const key of keys) await checkKey(key);
}

/** Checks the metadata document and the public keys of the provider. */
export async function checkMetadata(suite: Suite): Promise<void> {
  const { ask, discoveryUrl } = suite;
  const answer = await ask(discoveryUrl);
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toMatch(/^application\/json\b/);
  const metadata = answer.json();
  expect(`${metadata.issuer}/.well-known/openid-configuration`).toBe(discoveryUrl);
  const issuer = new URL(String(metadata.issuer));
  expect([issuer.protocol, issuer.search, issuer.hash]).toEqual(['https:', '', '']);

  for (const [name, member] of Object.entries(lists)) expect(metadata[name], name).toContain(member);
  for (const [name, value] of Object.entries(metadata).filter(([, value]) => Array.isArray(value)))
    for (const member of value as unknown[]) expect(member, name).toMatch(/^[\x21\x23-\x5B\x5D-\x7E]+$/);
  for (const locale of metadata.ui_locales_supported as string[])
    expect(Intl.getCanonicalLocales(locale)).toEqual([locale]);

  for (const name of ['authorization_endpoint', 'token_endpoint', 'userinfo_endpoint', 'jwks_uri'])
    expect(metadata, name).toHaveProperty(name);
  const addresses = Object.entries(metadata).filter(([name]) => /_(endpoint|uri)$/.test(name));
  for (const [name, address] of addresses) expect(new URL(String(address)).protocol, name).toBe('https:');
  for (const name of ['request', 'request_uri', 'claims'])
    expect(metadata[`${name}_parameter_supported`]).toBe(false);

  await checkKeys(suite);
}

/** Conformance modules about the provider's metadata. */
export const discovery: readonly Module[] = [
  module(
    'oidcc-discovery-endpoint-verification',
    'status, type and members of the metadata; every URL has https; the keys are valid, public and have different ids',
    checkMetadata,
  ),
];
