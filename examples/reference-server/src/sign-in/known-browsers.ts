import { randomBytes } from 'node:crypto';
import type { PasswordOwner } from '../users/accounts.ts';
import { createProofs, type SigningKeys } from './proofs.ts';

/** After so long without a sign-in, in milliseconds, a browser is a stranger's. */
export const knownLifetimeMs = 180 * 24 * 3_600_000;

/** Families share a browser; a machine for everybody must not get a cookie that servers refuse. */
const usersAtMost = 5;

/** Name, end in seconds, and what proves both. */
const format = /^([A-Za-z0-9_-]{22})\.(\d{10,12})\.([A-Za-z0-9_-]{43})$/;

const nobody: PasswordOwner = { sub: '', passwordMark: '' };

interface Entry {
  readonly name: string;
  readonly endsAt: string;
  readonly proof: string;
}

/**
 * Distinguishes a browser in which a user has signed in from that of a stranger who tries the user's handle.
 * A cookie has one entry for each user of a browser, tied to user and password. It reveals nothing, and ends
 * when the password changes. The server stores nothing.
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
     * The name of a browser in which this user has signed in with the password of today; `null` for a stranger's. It takes as long
     * where there is no such user.
     */
    recognise(cookie: string | undefined, owner: PasswordOwner | null): string | null {
      const found = entriesOf(cookie).find((entry) => isOf(entry, owner ?? nobody));
      return owner === null ? null : (found?.name ?? null);
    },
    /** After a sign-in: the cookie's new value, with a new name for the browser. */
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
