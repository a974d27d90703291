import type { z } from 'zod';
import type { AnyClaims, UserRecord } from '../ports/users.ts';
import type { StandardSchema } from '../schemas/standard-schema.ts';
import { inPlainWords } from '../text/plain-words.ts';
import type { Consents, ScopeTexts } from './consent-texts.ts';
import type { ReadyScopeName } from './ready-scopes.ts';
import type { Scope } from './scopes.ts';
import { UserRecordError } from './user-record.ts';

/** Definition of a scope that the host application adds. */
export interface HostScope {
  /**
   * Claims that userinfo returns for the scope, each with a synchronous schema for its value. The value of a
   * claim is the member with that name in `claims` of the record from `users.find`. A scope for an API has no
   * claims.
   */
  readonly claims?: { readonly [claim: string]: StandardSchema };
  /** Texts of the consent page about the scope, for each language of the option `languages`. */
  readonly consent: { readonly [language: string]: ScopeTexts };
}

/** Value of the option `scopes`: scopes that are added to the built-in ones. */
export type HostScopes = { readonly [Ready in ReadyScopeName]?: boolean } & {
  /**
   * Adds the other claims of OpenID Connect Core, section 5.4, to the scope `profile`: `preferred_username`,
   * `picture`, `locale`, `zoneinfo`, `updated_at`, `given_name`, `family_name`, `middle_name`, `nickname`,
   * `profile`, `website`, `gender` and `birthdate`.
   */
  readonly standardProfile?: boolean;
} & { readonly [scope: string]: HostScope | boolean | undefined };

/** Input type of a Standard Schema. */
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

/** Name of a scope, if the scopes are not known at compile time. */
export type AnyScope = Scope | (string & {});

/** Names of the available scopes, derived from the type of the option `scopes`. */
export type ScopeNames<Scopes> = string extends keyof Scopes
  ? AnyScope
  : Scope | 'offline_access' | Exclude<keyof Scopes & string, 'standardProfile'>;

/** Claims of a host application's own scopes, as `users.find` must return them. */
export type HostClaims<Scopes> = string extends keyof Scopes
  ? AnyClaims
  : {
      readonly [Name in NamesIn<ClaimsIn<Scopes[keyof Scopes]>>]?:
        | InputOf<CheckOf<ClaimsIn<Scopes[keyof Scopes]>, Name>>
        | undefined;
    };

/** A claim that userinfo returns for a scope. */
export interface Claim {
  readonly name: string;
  /**
   * Returns the checked value of the claim; `undefined` if the user has no value. @throws UserRecordError if
   * the value is invalid
   */
  readonly of: (user: UserRecord) => unknown;
}

/** All available scopes with their claims and texts. */
export interface ScopeCatalog {
  /** Names of all scopes, in the order in which pages and discovery show them. */
  readonly names: readonly string[];
  readonly has: (name: string) => boolean;
  readonly claimsOf: (name: string) => readonly Claim[];
  readonly consents: Consents;
}

/** A scope in the catalogue: its claims, and its texts for the consent page. */
export interface CatalogScope {
  readonly claims: readonly Claim[];
  readonly consent: Consents[string];
}

export function refuse(field: string, problem: string): never {
  throw new UserRecordError(`users.find: ${field}: ${problem}`);
}

/** Validates a field of a user's record and returns its value. @throws UserRecordError if the value is invalid */
export function checkedBy(check: z.ZodType, value: unknown, field: string): unknown {
  const result = check.safeParse(value, inPlainWords);
  return result.success ? result.data : refuse(field, result.error.issues[0]?.message ?? 'is not valid');
}
