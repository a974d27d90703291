import { z } from 'zod';
import type { ErrorDetail } from './errors.ts';
import type { Consents } from './languages/page-language.ts';
import { holesOf, type ScopeTexts } from './languages/texts.ts';
import { inOneLine, inPlainWords, problemsOf } from './plain-words.ts';
import type { AnyClaims, UserRecord } from './ports/users.ts';
import {
  offlineAccess,
  offlineAccessConsent,
  type ReadyClaim,
  type ReadyScopeName,
  readyScopes,
  standardProfileClaims,
} from './ready-scopes.ts';
import { isScope, type Scope, type ScopeDefinition, scopeNames, scopes } from './scopes.ts';
import { checkedNow, isStandardSchema, type StandardSchema } from './standard-schema.ts';
import { UserRecordError } from './user-record.ts';

/** A scope of the host's own. */
export interface HostScope {
  /**
   * What userinfo answers for it: each claim with the check that its value has to pass, which is synchronous. The value is the member
   * of that name of `claims` in the record that `users.find` answers. A scope of an API has none.
   */
  readonly claims?: { readonly [claim: string]: StandardSchema };
  /** What the consent page says, in each language of the option `languages`. */
  readonly consent: { readonly [language: string]: ScopeTexts };
}

/** The option `scopes`: scopes beside the five, never instead of one. */
export type HostScopes = { readonly [Ready in ReadyScopeName]?: boolean } & {
  /** Adds `preferred_username`, `picture`, `locale`, `zoneinfo` and `updated_at` to `profile`. */
  readonly standardProfile?: boolean;
} & { readonly [scope: string]: HostScope | boolean | undefined };

/** What a check takes, as Standard Schema says it. */
type InputOf<Schema> = Schema extends { readonly '~standard': { readonly types?: infer Types } }
  ? NonNullable<Types> extends { readonly input: infer Input }
    ? Input
    : unknown
  : unknown;

type ClaimsIn<Entry> = Entry extends { readonly claims: infer Claims } ? Claims : never;
type NamesIn<Claims> = Claims extends unknown ? keyof Claims : never;
type CheckOf<Claims, Name> = Claims extends { readonly [Key in Name & PropertyKey]: infer Check }
  ? Check
  : never;

/** The name of a scope, where the compiler does not know which there are. */
export type AnyScope = Scope | (string & {});

/** The names of the scopes that there are with an option `scopes`. */
export type ScopeNames<Scopes> = string extends keyof Scopes
  ? AnyScope
  : Scope | 'offline_access' | Exclude<keyof Scopes & string, 'standardProfile'>;

/** The claims of a host's own scopes, as `users.find` answers them. */
export type HostClaims<Scopes> = string extends keyof Scopes
  ? AnyClaims
  : {
      readonly [Name in NamesIn<ClaimsIn<Scopes[keyof Scopes]>>]?:
        | InputOf<CheckOf<ClaimsIn<Scopes[keyof Scopes]>, Name>>
        | undefined;
    };

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
  readonly consents: Consents;
}

const maxScopes = 100;

/** RFC 6749, appendix A.4. */
const scopeToken = /^[\x21\x23-\x5B\x5D-\x7E]{1,100}$/;
const claimName = /^[A-Za-z][A-Za-z0-9_:./-]{0,99}$/;

/** Claims that an ID token or another JWT of an identity provider has a meaning for (OpenID Connect Core, RFC 7519). */
const registeredClaims = new Set([
  ...['iss', 'sub', 'aud', 'exp', 'nbf', 'iat', 'jti', 'auth_time', 'nonce', 'acr', 'amr', 'azp'],
  ...['at_hash', 'c_hash', 's_hash', 'sid', 'events', 'cnf', 'client_id', 'scope', 'active'],
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
  .refine((own) => holesOf(own).length === 0, 'has to hold no braces');
const claimNames = z
  .string()
  .regex(claimName, 'is none that a claim can have')
  .refine((name) => !registeredClaims.has(name), 'has another meaning in tokens');

/** Of the option, whose names are checked before. */
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
  if (!scopeToken.test(name) || name === offlineAccess || name === '__proto__')
    throw new TypeError(`scopes.${name}: is not a name that a scope can have (RFC 6749, appendix A.4)`);
}

/**
 * The five scopes and those of the host.
 * @param languages - the tags of the languages in which pages are answered
 * @param refreshTokens - whether clients can ask for refresh tokens
 * @throws TypeError that says what is wrong with a scope of the host's, by its path
 */
export function scopeCatalog(
  given: HostScopes,
  languages: readonly string[],
  refreshTokens: boolean,
): ScopeCatalog {
  const claims = new Map<string, readonly Claim[]>(scopeNames.map((name) => [name, ownClaims(name)]));
  const consents = new Map<string, Consents[string]>(scopeNames.map((name) => [name, scopes[name].consent]));
  const names = Object.keys(given);
  if (names.length > maxScopes) throw new TypeError(`scopes: takes ${maxScopes} at most`);
  names.forEach(requireName);
  const { error } = schemaOf(languages).safeParse(given, inPlainWords);
  if (error !== undefined) throw new TypeError(inOneLine(problemsOf(error.issues).map(inScopes), 'scopes'));
  if (given.standardProfile === true)
    claims.set('profile', [...ownClaims('profile'), ...readyClaims(standardProfileClaims)]);
  for (const [name, scope] of Object.entries(given)) {
    if (typeof scope === 'object') {
      claims.set(name, hostClaims(scope.claims ?? {}));
      consents.set(name, scope.consent);
    } else if (scope === true && name !== 'standardProfile') {
      const ready = readyScopes[name as ReadyScopeName];
      claims.set(name, readyClaims(ready.claims));
      consents.set(name, ready.consent);
    }
  }
  if (refreshTokens) {
    claims.set(offlineAccess, []);
    consents.set(offlineAccess, offlineAccessConsent);
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
    consents: Object.fromEntries(consents),
  });
}
