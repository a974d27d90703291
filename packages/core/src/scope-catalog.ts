import type { z } from 'zod';
import { inPlainWords } from './plain-words.ts';
import type { UserRecord } from './ports/users.ts';
import { type ReadyClaim, type ReadyScopeName, readyScopes, standardProfileClaims } from './ready-scopes.ts';
import { isScope, type Scope, type ScopeDefinition, scopeNames, scopes } from './scopes.ts';
import { UserRecordError } from './user-record.ts';

/** The part of Standard Schema (version 1) that is used; zod, valibot, arktype and others have it. */
export interface ClaimSchema {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => unknown;
  };
}

/** A scope of the host's own. */
export interface HostScope {
  /**
   * What userinfo answers for it: each claim with the check that its value has to pass, which is synchronous. The value is the member
   * of that name of `claims` in the record that `users.find` answers. A scope of an API has none.
   */
  readonly claims?: { readonly [claim: string]: ClaimSchema };
  /** What the consent page says, in each language of the option `languages`. */
  readonly consent: { readonly [language: string]: { readonly title: string; readonly detail: string } };
}

/** The option `scopes`: scopes beside the five, never instead of one. */
export type HostScopes = { readonly [Ready in ReadyScopeName]?: boolean } & {
  /** Adds `preferred_username`, `picture`, `locale`, `zoneinfo` and `updated_at` to `profile`. */
  readonly standardProfile?: boolean;
} & { readonly [scope: string]: HostScope | boolean | undefined };

/** A claim of userinfo. */
export interface Claim {
  readonly name: string;
  /** Its value, checked; `undefined` where the user has none. @throws UserRecordError */
  readonly of: (user: UserRecord) => unknown;
}

/** Every scope that there is here, and what each gives. */
export interface ScopeCatalog {
  /** In the order in which pages and discovery show them. */
  readonly names: readonly string[];
  readonly has: (name: string) => boolean;
  readonly claimsOf: (name: string) => readonly Claim[];
  /** What the consent page says of those beside the five, by scope and language. */
  readonly consents: { readonly [scope: string]: HostScope['consent'] };
}

const maxScopes = 100;

/** RFC 6749, appendix A.4. */
const scopeToken = /^[\x21\x23-\x5B\x5D-\x7E]{1,100}$/;
const claimName = /^[A-Za-z_][A-Za-z0-9_:./-]{0,99}$/;

/** Claims that an ID token or another JWT of an identity provider has a meaning for (OpenID Connect Core, RFC 7519). */
const registeredClaims = new Set([
  ...['iss', 'sub', 'aud', 'exp', 'nbf', 'iat', 'jti', 'auth_time', 'nonce', 'acr', 'amr', 'azp'],
  ...['at_hash', 'c_hash', 's_hash', 'sid', 'events', 'cnf', 'client_id', 'scope', 'active', '__proto__'],
]);

function refuse(field: string, problem: string): never {
  throw new UserRecordError(`users.find: ${field}: ${problem}`);
}

function checkedBy(check: z.ZodType, value: unknown, field: string): unknown {
  const result = check.safeParse(value, inPlainWords);
  return result.success ? result.data : refuse(field, result.error.issues[0]?.message ?? 'is not valid');
}

const ownClaims = (name: Scope): Claim[] =>
  Object.entries((scopes[name] as ScopeDefinition).fields).map(([field, check]) => ({
    name: field,
    of: (user) => checkedBy(check, user[field as keyof UserRecord], field),
  }));

const readyClaims = (claims: { readonly [claim: string]: ReadyClaim }): Claim[] =>
  Object.entries(claims).map(([name, { read, field, check }]) => ({
    name,
    of(user) {
      const value = read(user);
      return value === undefined || value === null ? undefined : checkedBy(check, value, field);
    },
  }));

/** What the first issue of a Standard Schema says. */
function messageOf(issues: unknown): string {
  const [first] = Array.isArray(issues) ? issues : [];
  const message: unknown = Object(first).message;
  return typeof message === 'string' ? message : 'is not valid';
}

const hostClaims = (claims: NonNullable<HostScope['claims']>): Claim[] =>
  Object.entries(claims).map(([name, schema]) => ({
    name,
    of(user) {
      const result = schema['~standard'].validate(user.claims?.[name]);
      if (result instanceof Promise) refuse(`claims.${name}`, 'its schema is asynchronous');
      const { issues, value }: { issues?: unknown; value?: unknown } = Object(result);
      if (issues !== undefined) refuse(`claims.${name}`, messageOf(issues));
      return value;
    },
  }));

const isSchema = (value: unknown): value is ClaimSchema =>
  (typeof value === 'object' || typeof value === 'function') && value !== null && '~standard' in value;

/** @throws TypeError that says what is wrong with a scope of the host's, by its path */
function requireHostScope(
  name: string,
  given: unknown,
  languages: readonly string[],
): asserts given is HostScope {
  const path = `scopes.${name}`;
  const fail = (problem: string): never => {
    throw new TypeError(`${path}${problem}`);
  };
  if (isScope(name)) fail(': is one of the five, which stay as they are');
  if (name === 'offline_access' || !scopeToken.test(name))
    fail(': is not a name that a scope can have (RFC 6749, appendix A.4)');
  if (typeof given !== 'object' || given === null)
    fail(': has to be an object with consent and, perhaps, claims');
  const { claims = {}, consent, ...more }: { claims?: unknown; consent?: unknown } = Object(given);
  for (const key of Object.keys(more)) fail(`.${key}: is not a known field`);
  if (typeof claims !== 'object' || claims === null) fail('.claims: has to be an object');
  for (const [claim, schema] of Object.entries(Object(claims))) {
    if (!claimName.test(claim))
      fail(`.claims: ${JSON.stringify(claim.slice(0, 64))} is not a name that a claim can have`);
    if (registeredClaims.has(claim)) fail(`.claims.${claim}: has another meaning in tokens`);
    if (!isSchema(schema)) fail(`.claims.${claim}: has to be a Standard Schema`);
  }
  for (const language of languages) {
    const texts: unknown = Object(consent)[language];
    for (const part of ['title', 'detail']) {
      const words: unknown = Object(texts)[part];
      if (typeof words !== 'string' || words.trim() === '' || words.length > 2000)
        fail(`.consent.${language}.${part}: has to be a text of 1 to 2000 characters`);
    }
  }
}

/**
 * The five scopes and those of the host.
 * @param languages - the tags of the languages in which pages are answered
 * @throws TypeError that says what is wrong with a scope of the host's, by its path
 */
export function scopeCatalog(given: HostScopes, languages: readonly string[]): ScopeCatalog {
  const claims = new Map<string, readonly Claim[]>(scopeNames.map((name) => [name, ownClaims(name)]));
  const consents: { [scope: string]: HostScope['consent'] } = {};
  if (Object.keys(given).length > maxScopes) throw new TypeError(`scopes: takes ${maxScopes} at most`);
  for (const [name, scope] of Object.entries(given)) {
    if (name === 'standardProfile' || Object.hasOwn(readyScopes, name)) {
      if (typeof scope !== 'boolean' && scope !== undefined)
        throw new TypeError(`scopes.${name}: has to be true or false`);
      if (scope !== true) continue;
      if (name === 'standardProfile') {
        claims.set('profile', [...ownClaims('profile'), ...readyClaims(standardProfileClaims)]);
      } else {
        const ready = readyScopes[name as ReadyScopeName];
        claims.set(name, readyClaims(ready.claims));
        consents[name] = ready.consent;
      }
    } else {
      requireHostScope(name, scope, languages);
      claims.set(name, hostClaims(scope.claims ?? {}));
      consents[name] = scope.consent;
    }
  }
  const owners = new Map<string, string>();
  for (const [scope, own] of claims) {
    for (const { name } of own) {
      const owner = owners.get(name);
      if (owner !== undefined)
        throw new TypeError(`scopes.${scope}.claims.${name}: ${owner} has this claim too`);
      owners.set(name, scope);
    }
  }
  return Object.freeze({
    names: [...claims.keys()],
    has: (name: string) => claims.has(name),
    claimsOf: (name: string) => claims.get(name) ?? [],
    consents,
  });
}
