import type { ImportedConsent, NewClient } from '@ostiary/core/admin';

/** A client as read from the export of another server. */
export interface FoundClient {
  readonly clientId: string;
  /** Settings of the client as Ostiary needs them, except that scopes still have the old server's names. */
  readonly settings: NewClient;
  /** Properties of the client on the old server that are not imported. */
  readonly left: readonly string[];
  /** Reason why the client cannot be imported; `null` if it can. */
  readonly reason: string | null;
}

/**
 * Reason why a consent is not imported: `limited` if it is valid for a limited time, `ended` if it has
 * expired, `notRemembered` if it was for one sign-in, `ofDisabledUser` if its user cannot sign in,
 * `incomplete` if it lacks a user or a client, `unfitUserId` if Ostiary does not take the id of its user.
 */
export type Omission =
  | 'limited'
  | 'ended'
  | 'notRemembered'
  | 'ofDisabledUser'
  | 'incomplete'
  | 'unfitUserId';

/** A consent as read from the export of another server. Its scopes still have the old server's names. */
export interface FoundConsent extends ImportedConsent {
  readonly omission: Omission | null;
  /** Parts of the consent other than its scopes that Ostiary does not support, such as `single claims`. */
  readonly left: readonly string[];
}

/** Clients and consents found in the files of another system. */
export interface Found {
  readonly clients: readonly FoundClient[];
  readonly consents: readonly FoundConsent[];
}

/**
 * Reads one document of an export. @throws TypeError if the document does not come from that kind of server
 */
export type ReadExport = (document: unknown) => Found;

/** Members of a JSON object; `{}` for any other value. */
export type Members = { readonly [name: string]: unknown };

export const members = (value: unknown): Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : {};

export const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Returns a value if it is a non-empty text, otherwise `undefined`. */
export const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

export const texts = (value: unknown): readonly string[] =>
  list(value).filter((one): one is string => typeof one === 'string');

export const words = (value: unknown): readonly string[] => (text(value) ?? '').split(' ').filter(Boolean);

/**
 * Returns the setting for a client secret: the secret itself, or its hash if it starts like `$2b$…`,
 * `$argon2id$…`, `$scrypt$…` or `$pbkdf2-sha256$…`.
 */
export const secretOf = (secret: string): Pick<NewClient, 'clientSecret' | 'clientSecretHash'> =>
  /^\$[a-z0-9-]+\$/.test(secret) ? { clientSecretHash: secret } : { clientSecret: secret };

/**
 * Rule for a member of an exported record: returns the feature that the member enables and the import loses.
 * Returns `null` if nothing is lost: the member is imported, is checked elsewhere, or has no effect in
 * Ostiary.
 */
export type MemberRule = (value: unknown) => string | null;

/** Rules for the known members of an exported record. */
export type MemberRules = { readonly [member: string]: MemberRule };

/** Rule for a member of an exported record that is read elsewhere, or that only describes the record. */
export const handled: MemberRule = () => null;

/**
 * Checks whether a value in an export counts as not set. Other servers also write members that were never
 * set.
 */
const isUnset = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === '' ||
  value === false ||
  value === 'false' ||
  (Array.isArray(value)
    ? value.length === 0
    : typeof value === 'object' && Object.values(value).every(isUnset));

/** Makes a rule for an exported record: reports the feature `what` as lost if the member is true. */
export const isOn =
  (what: string): MemberRule =>
  (value) =>
    value === true || value === 'true' ? what : null;

/** Makes a rule for an exported record: reports the feature `what` as lost if the member has a value. */
export const isSet =
  (what: string): MemberRule =>
  (value) =>
    isUnset(value) ? null : what;

/**
 * Makes a rule for an exported record: reports values other than `known` as lost, since Ostiary lacks them.
 */
export const otherThan =
  (what: string, ...known: readonly string[]): MemberRule =>
  (value) => {
    const others = (Array.isArray(value) ? texts(value) : [text(value) ?? '']).filter(
      (one) => one !== '' && !known.includes(one),
    );
    return others.length === 0 ? null : `${what} ${others.join(' ')}`;
  };

/**
 * Makes a rule for an exported record: reports allowed CORS origins that Ostiary would not allow, since it
 * derives them from the redirect URIs. `+` stands for the origins of the redirect URIs.
 */
export const otherOrigins =
  (redirectUris: readonly string[]): MemberRule =>
  (value) => {
    const own = redirectUris.map((uri) => (URL.canParse(uri) ? new URL(uri).origin : ''));
    return otherThan('CORS for', '+', ...own)(value);
  };

/**
 * Lists everything in an exported record that Ostiary cannot import. Members without a rule are listed by
 * their original name.
 */
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

/**
 * Returns the setting of a client whose old server accepted any port of its loopback redirect URIs (RFC 8252,
 * section 7.3). Ostiary accepts any port for public clients only, and then for all of their loopback addresses: other
 * clients lose it, so that no address gets ports that it did not have.
 * @param ignoresPort - whether the old server ignored the port of this URI
 */
export function portsOf(
  redirectUris: readonly string[],
  ignoresPort: (uri: string) => boolean,
  isPublic: boolean,
): { readonly settings: Pick<NewClient, 'loopbackPorts'>; readonly left: readonly string[] } {
  if (!redirectUris.some(ignoresPort)) return { settings: {}, left: [] };
  const isLoopback = (uri: string) => /^http:\/\/(?:localhost|127(?:\.\d+){3}|\[::1\])(?:[:/?]|$)/i.test(uri);
  return isPublic && redirectUris.filter(isLoopback).every(ignoresPort)
    ? { settings: { loopbackPorts: 'any' }, left: [] }
    : { settings: {}, left: ['other ports of its loopback addresses'] };
}

/** Parses a time in an export: seconds, milliseconds, or ISO 8601. */
export function moment(value: unknown): Date | undefined {
  const date =
    typeof value === 'number' ? new Date(value < 1e11 ? value * 1000 : value) : new Date(text(value) ?? '');
  return Number.isNaN(date.getTime()) ? undefined : date;
}

/** Returns the algorithm that signs ID tokens if Ostiary supports it, otherwise `undefined`. */
export const algorithmOf = (name: unknown): NewClient['idTokenAlg'] =>
  name === 'ES256' || name === 'RS256' ? name : undefined;

/** Converts scopes to their standard names: some systems call `offline_access` just `offline`. */
export const standardScopes = (names: readonly string[]): readonly string[] =>
  names.map((name) => (name === 'offline' ? 'offline_access' : name));
