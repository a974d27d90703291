import { z } from 'zod';
import type { ErrorDetail } from '../errors.ts';
import { checkedNow, isStandardSchema, type StandardSchema } from '../schemas/standard-schema.ts';
import { messageFault } from '../text/messages.ts';
import { inOneLine, inPlainWords, problemsOf } from '../text/plain-words.ts';
import { isReservedName, reservedWords } from '../text/reserved-names.ts';
import {
  type CatalogScope,
  type Claim,
  checkedBy,
  type HostScope,
  type HostScopes,
  refuse,
} from './catalog.ts';
import {
  offlineAccessConsent,
  type ReadyClaim,
  type ReadyScopeName,
  readyScopes,
  standardProfileClaims,
  standardProfileConsent,
} from './ready-scopes.ts';
import { isScope, offlineAccess } from './scopes.ts';

// This module is loaded only if the host adds or enables scopes, or sets the option `refreshTokens`.

const maxScopes = 100;

/** Matches the name of a scope (RFC 6749, appendix A.4), with at most 100 characters. */
const scopeToken = /^[\x21\x23-\x5B\x5D-\x7E]{1,100}$/;
const claimName = /^[A-Za-z][A-Za-z0-9_:./-]{0,99}$/;

/**
 * Names of claims that have a meaning in an ID token or another JWT of an identity provider (OpenID Connect
 * Core, RFC 7519), so that a host application cannot define them.
 */
const registeredClaims = new Set([
  ...['iss', 'sub', 'aud', 'exp', 'nbf', 'iat', 'jti', 'auth_time', 'nonce', 'acr', 'amr', 'azp'],
  ...['at_hash', 'c_hash', 's_hash', 'sid', 'events', 'cnf', 'client_id', 'scope', 'active'],
]);

const readyClaims = (claims: { readonly [claim: string]: ReadyClaim }): Claim[] =>
  Object.entries(claims).map(([name, { read, field, check }]) => ({
    name,
    of(user) {
      const value = read(user);
      return value === undefined || value === null ? undefined : checkedBy(check, value, field);
    },
  }));

const hostClaims = (claims: NonNullable<HostScope['claims']>): Claim[] =>
  Object.entries(claims).map(([name, { '~standard': schema }]) => ({
    name,
    of(user) {
      const { issues, value } = checkedNow(schema.validate, user.claims?.[name], `scopes: ${name}`);
      return issues === undefined ? value : refuse(`claims.${name}`, issues[0]?.message ?? 'is not valid');
    },
  }));

const words = z
  .string()
  .trim()
  .min(1)
  .max(2000)
  .refine((own) => messageFault(own, []) === null, 'has to hold no braces');
const claimNames = z
  .string()
  .regex(claimName, 'is not a valid name for a claim')
  .refine((name) => !registeredClaims.has(name), 'has another meaning in tokens');

/** Schema of the option `scopes`. The names of the scopes were checked before. */
const schemaOf = (languages: readonly string[]) =>
  z
    .object(
      Object.fromEntries(
        [...Object.keys(readyScopes), 'standardProfile'].map((name) => [name, z.boolean().optional()]),
      ),
    )
    .catchall(
      z.strictObject({
        claims: z
          .record(claimNames, z.custom<StandardSchema>(isStandardSchema, 'has to be a Standard Schema'))
          .optional(),
        consent: z.looseObject(
          Object.fromEntries(languages.map((tag) => [tag, z.strictObject({ title: words, detail: words })])),
        ),
      }),
    );

const inScopes = ({ path, message }: ErrorDetail) => ({ path: `scopes.${path}`, message });

function requireName(name: string): void {
  if (isScope(name)) throw new TypeError(`scopes.${name}: is one of the five, which stay as they are`);
  if (!scopeToken.test(name) || name === offlineAccess || isReservedName(name))
    throw new TypeError(`scopes.${name}: is not a name that a scope can have (RFC 6749, appendix A.4)`);
}

/**
 * Checks names of claims in the option `scopes` that the schema would not report: zod's record drops a member
 * `__proto__`. @throws TypeError for such a name
 */
function requireClaimNames(scope: string, entry: HostScope | boolean | undefined): void {
  if (typeof entry !== 'object' || entry === null) return;
  const reserved = Object.keys(entry.claims ?? {}).find(isReservedName);
  if (reserved !== undefined) throw new TypeError(`scopes.${scope}.claims.${reserved}: ${reservedWords}`);
}

/** Checks that no claim belongs to two scopes. @throws TypeError that names both scopes and the claim */
function requireOwnClaims(all: ReadonlyMap<string, CatalogScope>): void {
  const owners = new Map<string, string>();
  for (const [scope, { claims }] of all) {
    for (const { name } of claims) {
      const owner = owners.get(name);
      if (owner !== undefined)
        throw new TypeError(`scopes.${scope}.claims.${name}: ${owner} has this claim too`);
      owners.set(name, scope);
    }
  }
}

/**
 * Adds the host application's own scopes, and the optional scopes that the host enabled, to the built-in
 * scopes.
 * @throws TypeError that names one or more faulty scopes by their paths
 */
export function withHostScopes(
  five: ReadonlyMap<string, CatalogScope>,
  given: HostScopes,
  languages: readonly string[],
  refreshTokens: boolean,
): ReadonlyMap<string, CatalogScope> {
  const names = Object.keys(given);
  if (names.length > maxScopes) throw new TypeError(`scopes: takes ${maxScopes} at most`);
  names.forEach(requireName);
  for (const [name, entry] of Object.entries(given)) requireClaimNames(name, entry);
  const { error } = schemaOf(languages).safeParse(given, inPlainWords);
  if (error !== undefined) throw new TypeError(inOneLine(problemsOf(error.issues).map(inScopes), 'scopes'));
  const all = new Map(five);
  const profile = five.get('profile');
  if (given.standardProfile === true && profile !== undefined)
    all.set('profile', {
      claims: [...profile.claims, ...readyClaims(standardProfileClaims)],
      consent: standardProfileConsent,
    });
  for (const [name, scope] of Object.entries(given)) {
    if (typeof scope === 'object') {
      all.set(name, { claims: hostClaims(scope.claims ?? {}), consent: scope.consent });
    } else if (scope === true && name !== 'standardProfile') {
      const { claims, consent } = readyScopes[name as ReadyScopeName];
      all.set(name, { claims: readyClaims(claims), consent });
    }
  }
  if (refreshTokens) all.set(offlineAccess, { claims: [], consent: offlineAccessConsent });
  requireOwnClaims(all);
  return all;
}
