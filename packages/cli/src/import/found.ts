import type { ImportedConsent, NewClient } from '@ostiary/core/admin';

/** A client of another system. */
export interface FoundClient {
  readonly clientId: string;
  /** In the terms of this one; scopes are still those of the other. */
  readonly settings: NewClient;
  /** Properties that it had in the other system and cannot have here. */
  readonly left: readonly string[];
  /** Reason why it is not imported; `null` if it is imported. */
  readonly reason: string | null;
}

/**
 * Reason why a consent is not imported: `limited` if it was given for a time, `ended` if it is over,
 * `notRemembered` if it was for one sign-in, `ofDisabledUser` if its user cannot sign in, `incomplete` if it
 * names no user or no client.
 */
export type Omission = 'limited' | 'ended' | 'notRemembered' | 'ofDisabledUser' | 'incomplete';

/** A consent of another system, its scopes still those of that one. */
export interface FoundConsent extends ImportedConsent {
  readonly omission: Omission | null;
  /** Scopes and claims that it gave in the other system and cannot give here. */
  readonly left: readonly string[];
}

/** Content of the files of another system. */
export interface Found {
  readonly clients: readonly FoundClient[];
  readonly consents: readonly FoundConsent[];
}

/** Reads one document of an export. @throws TypeError for any other document */
export type ReadExport = (document: unknown) => Found;

/** A JSON object; `{}` for anything else. */
export type Members = { readonly [name: string]: unknown };

export const members = (value: unknown): Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : {};

export const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** A text that is not empty. */
export const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

export const texts = (value: unknown): readonly string[] =>
  list(value).filter((one): one is string => typeof one === 'string');

export const words = (value: unknown): readonly string[] => (text(value) ?? '').split(' ').filter(Boolean);

/** Its secret, or the hash of it: one of `$2b$…`, `$argon2id$…`, `$scrypt$…`, `$pbkdf2-sha256$…`. */
export const secretOf = (secret: string): Pick<NewClient, 'clientSecret' | 'clientSecretHash'> =>
  /^\$[a-z0-9-]+\$/.test(secret) ? { clientSecretHash: secret } : { clientSecret: secret };

/**
 * Says what a record had by a member and cannot have here. `null`: the member is brought along, decides whether the record is, or
 * changes nothing here.
 */
export type MemberRule = (value: unknown) => string | null;

/** A rule for each member of a record whose meaning is known. */
export type MemberRules = { readonly [member: string]: MemberRule };

/** A member that is read elsewhere, or that only describes the record. */
export const handled: MemberRule = () => null;

/** Checks whether a member sets nothing. Other systems write every member, also those that were never set. */
const isUnset = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === '' ||
  value === false ||
  value === 'false' ||
  (Array.isArray(value)
    ? value.length === 0
    : typeof value === 'object' && Object.values(value).every(isUnset));

/** Names what a member switches on. */
export const isOn =
  (what: string): MemberRule =>
  (value) =>
    value === true || value === 'true' ? what : null;

/** Names what a member sets. */
export const isSet =
  (what: string): MemberRule =>
  (value) =>
    isUnset(value) ? null : what;

/** Names the values of a member that there are not here. */
export const otherThan =
  (what: string, ...known: readonly string[]): MemberRule =>
  (value) => {
    const others = (Array.isArray(value) ? texts(value) : [text(value) ?? '']).filter(
      (one) => one !== '' && !known.includes(one),
    );
    return others.length === 0 ? null : `${what} ${others.join(' ')}`;
  };

/** Names origins whose pages may ask there, and not here, where redirect URIs decide it. `+` stands for those of the redirect URIs. */
export const otherOrigins =
  (redirectUris: readonly string[]): MemberRule =>
  (value) => {
    const own = redirectUris.map((uri) => (URL.canParse(uri) ? new URL(uri).origin : ''));
    return otherThan('CORS for', '+', ...own)(value);
  };

/** Names everything that a record had and cannot have here. Members without a rule are named as they are called there. */
export function leftOf(record: Members, rules: MemberRules): readonly string[] {
  const known = Object.entries(rules).map(([member, rule]) => rule(record[member]));
  const others = Object.entries(record).filter(
    ([member, value]) => !Object.hasOwn(rules, member) && !isUnset(value),
  );
  return [
    ...new Set(known.filter((what) => what !== null)),
    ...(others.length === 0 ? [] : [`settings: ${others.map(([member]) => member).join(' ')}`]),
  ];
}

/** A moment in seconds or milliseconds, or as ISO 8601. */
export function moment(value: unknown): Date | undefined {
  const date =
    typeof value === 'number' ? new Date(value < 1e11 ? value * 1000 : value) : new Date(text(value) ?? '');
  return Number.isNaN(date.getTime()) ? undefined : date;
}

/** An algorithm of ID tokens that there is here, too. */
export const algorithmOf = (name: unknown): NewClient['idTokenAlg'] =>
  name === 'ES256' || name === 'RS256' ? name : undefined;

/** Scopes by the names of this system: some call `offline` what the standard calls `offline_access`. */
export const standardScopes = (names: readonly string[]): readonly string[] =>
  names.map((name) => (name === 'offline' ? 'offline_access' : name));
