import { importJWK, type JSONWebKeySet, type JWK } from 'jose';
import { expect } from 'vitest';
import type { Suite } from '../support/suite.ts';
import { type Module, module } from './module.ts';

/** Members of keys that only their owner may know (RFC 7518, section 6). */
const privateMembers = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'];

async function checkKey(key: JWK): Promise<void> {
  expect(key.kid).toEqual(expect.stringMatching(/./));
  expect(['RSA', 'EC']).toContain(key.kty);
  expect(privateMembers.filter((member) => member in key)).toEqual([]);
  const numbers = [key.n, key.e, key.x, key.y].filter((member) => member !== undefined);
  expect(numbers).toHaveLength(2);
  for (const number of numbers) expect(number).toMatch(/^[A-Za-z0-9_-]+$/);
  expect(await importJWK(key, key.alg ?? 'RS256')).toBeDefined();
}

async function checkKeySet(suite: Suite, url: unknown): Promise<void> {
  const answer = await suite.ask(url);
  expect(answer.status).toBe(200);
  const { keys } = answer.json() as unknown as JSONWebKeySet;
  expect(keys.length).toBeGreaterThan(0);
  expect(new Set(keys.map(({ kid }) => kid)).size).toBe(keys.length);
  expect(keys.some(({ kty }) => kty === 'RSA')).toBe(true);
  for (const key of keys) await checkKey(key);
}

async function checkMetadata(suite: Suite): Promise<void> {
  const { discoveryUrl } = suite;
  const answer = await suite.ask(discoveryUrl);
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toMatch(/^application\/json\b/);
  const metadata = answer.json();
  const list = (name: string): string[] => {
    const value = metadata[name];
    if (!Array.isArray(value) || value.length === 0) throw new Error(`${name} is no list with members`);
    expect(value.filter((member) => typeof member !== 'string')).toEqual([]);
    return value;
  };

  expect(discoveryUrl).toMatch(/^https:.*\/\.well-known\/openid-configuration$/);
  expect(`${metadata.issuer}/.well-known/openid-configuration`).toBe(discoveryUrl);
  const issuer = new URL(String(metadata.issuer));
  expect([issuer.protocol, issuer.search, issuer.hash]).toEqual(['https:', '', '']);

  expect(list('response_types_supported')).toContain('code');
  expect(list('grant_types_supported')).toContain('authorization_code');
  expect(list('subject_types_supported')).toContain('public');
  expect(list('id_token_signing_alg_values_supported')).toContain('RS256');
  expect(metadata.userinfo_signing_alg_values_supported ?? []).toEqual(expect.any(Array));
  expect(list('claims_supported')).toContain('sub');
  expect(list('code_challenge_methods_supported')).toContain('S256');

  const scopes = list('scopes_supported');
  expect(scopes).toContain('openid');
  for (const scope of scopes) expect(scope).toMatch(/^[\x21\x23-\x5B\x5D-\x7E]+$/);
  for (const locale of list('ui_locales_supported'))
    expect(Intl.getCanonicalLocales(locale)).toEqual([locale]);

  for (const name of ['authorization_endpoint', 'token_endpoint', 'userinfo_endpoint', 'jwks_uri'])
    expect(metadata, name).toHaveProperty(name);
  const addresses = Object.entries(metadata).filter(([name]) => /_(endpoint|uri)$/.test(name));
  for (const [name, address] of addresses) expect(new URL(String(address)).protocol, name).toBe('https:');
  for (const name of ['request', 'request_uri', 'claims'])
    expect(metadata[`${name}_parameter_supported`]).toBe(false);

  await checkKeySet(suite, metadata.jwks_uri);
}

/** What the provider says of itself. */
export const discovery: readonly Module[] = [
  module(
    'oidcc-discovery-endpoint-verification',
    'status, type and every member of the metadata; https everywhere; keys valid, public and told apart',
    checkMetadata,
  ),
];
