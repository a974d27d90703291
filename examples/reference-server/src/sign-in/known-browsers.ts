import { randomBytes } from 'node:crypto';
import type { PasswordOwner } from '../users/accounts.ts';
import { createProofs, type SigningKeys } from './proofs.ts';

/** Time without a sign-in after which a browser is no longer known, in milliseconds. */
export const knownLifetimeMs = 180 * 24 * 3_600_000;

/**
 * Maximum number of users that a browser's cookie remembers: enough for a family. On a shared machine the
 * cookie must not grow until servers refuse it.
 */
const usersAtMost = 5;

/** Format of a cookie entry: browser name, expiry in seconds since the Unix epoch, and signature. */
const format = /^([A-Za-z0-9_-]{22})\.(\d{10,12})\.([A-Za-z0-9_-]{43})$/;

const nobody: PasswordOwner = { sub: '', passwordMark: '' };

interface Entry {
  readonly name: string;
  readonly endsAt: string;
  readonly proof: string;
}

/**
 * Recognizes browsers in which a user has signed in before, to distinguish the user from a stranger who tries
 * the user's handle. The cookie has one entry per user, bound to user and password. The cookie reveals
 * nothing, and becomes invalid when the password changes. The server stores nothing.
 */
export function createKnownBrowsers(keys: SigningKeys, now: () => number) {
  const proofs = createProofs(keys);
  const partsOf = ({ name, endsAt }: Omit<Entry, 'proof'>, { sub, passwordMark }: PasswordOwner) =>
    [name, endsAt, sub, passwordMark] as const;

  function entriesOf(cookie: string | undefined): readonly Entry[] {
    const entries: Entry[] = [];
    for (const text of (cookie ?? '').split('~', usersAtMost)) {
      const [, name = '', endsAt = '', proof = ''] = format.exec(text) ?? [];
      if (Number(endsAt) * 1_000 > now()) entries.push({ name, endsAt, proof });
    }
    return entries;
  }

  const isOf = (entry: Entry, owner: PasswordOwner): boolean =>
    proofs.isOf(entry.proof, ...partsOf(entry, owner));

  return {
    /**
     * Returns the name of a browser if this user has signed in with it, with the current password; `null` for
     * any other browser. Takes equally long if the user does not exist.
     */
    recognise(cookie: string | undefined, owner: PasswordOwner | null): string | null {
      const found = entriesOf(cookie).find((entry) => isOf(entry, owner ?? nobody));
      return owner === null ? null : (found?.name ?? null);
    },
    /**
     * Returns the new value of the cookie for known browsers after a sign-in, with a new name for the
     * browser.
     */
    remember(cookie: string | undefined, owner: PasswordOwner): string {
      const fresh = {
        name: randomBytes(16).toString('base64url'),
        endsAt: String(Math.floor((now() + knownLifetimeMs) / 1_000)),
      };
      const proof = proofs.of(...partsOf(fresh, owner));
      const others = entriesOf(cookie).filter((entry) => !isOf(entry, owner));
      return [{ ...fresh, proof }, ...others]
        .slice(0, usersAtMost)
        .map((entry) => `${entry.name}.${entry.endsAt}.${entry.proof}`)
        .join('~');
    },
  };
}
