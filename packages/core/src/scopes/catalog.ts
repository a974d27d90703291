import type { z } from 'zod';
import type { AnyClaims, UserRecord } from '../ports/users.ts';
import type { StandardSchema } from '../schemas/standard-schema.ts';
import { inPlainWords } from '../text/plain-words.ts';
import type { Consents, ScopeTexts } from './consent-texts.ts';
import type { ReadyScopeName } from './ready-scopes.ts';
import type { Scope } from './scopes.ts';
import { UserRecordError } from './user-record.ts';

/** A scope of the host. */
export interface HostScope {
  /**
   * Claims of userinfo for the scope, each with a synchronous check of its value. The value is the member of
   * that name of `claims` in the record from `users.find`. A scope for an API has no claims.
   */
  readonly claims?: { readonly [claim: string]: StandardSchema };
  /** Texts of the consent page, in each language of the option `languages`. */
  readonly consent: { readonly [language: string]: ScopeTexts };
}

/** The option `scopes`: scopes in addition to the built-in ones. */
export type HostScopes = { readonly [Ready in ReadyScopeName]?: boolean } & {
  /** Adds `preferred_username`, `picture`, `locale`, `zoneinfo` and `updated_at` to `profile`. */
  readonly standardProfile?: boolean;
} & { readonly [scope: string]: HostScope | boolean | undefined };

/** Input of a check, as in Standard Schema. */
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

/** Claims of a scope, and its texts for the consent page. */
export interface CatalogScope {
  readonly claims: readonly Claim[];
  readonly consent: Consents[string];
}

export function refuse(field: string, problem: string): never {
  throw new UserRecordError(`users.find: ${field}: ${problem}`);
}

/** @throws UserRecordError */
export function checkedBy(check: z.ZodType, value: unknown, field: string): unknown {
  const result = check.safeParse(value, inPlainWords);
  return result.success ? result.data : refuse(field, result.error.issues[0]?.message ?? 'is not valid');
}
