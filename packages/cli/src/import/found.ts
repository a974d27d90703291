import type { ImportedConsent, NewClient } from '@ostiary/core/admin';

/** A client of another system. */
export interface FoundClient {
  readonly clientId: string;
  /** In the terms of this one; scopes are still those of the other. */
  readonly settings: NewClient;
  /** What it had there and cannot have here. */
  readonly left: readonly string[];
  /** Why it is not brought along at all; `null`: it is. */
  readonly reason: string | null;
}

/** A consent of another system, its scopes still those of that one. */
export interface FoundConsent extends ImportedConsent {
  /** It was given for a time, which consents here are not. */
  readonly ends?: boolean;
}

/** What the files of another system hold. */
export interface Found {
  readonly clients: readonly FoundClient[];
  readonly consents: readonly FoundConsent[];
}

/** Reads one document of an export. @throws TypeError when it is none */
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
