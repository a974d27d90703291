import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

/** Error if too many passwords are being checked at the moment. A retry in a few seconds may succeed. */
export class TooBusy extends Error {
  override readonly name = 'TooBusy';
}

/** Cost of one password hash (RFC 7914): `2 ** logN * r * 128` bytes of memory. */
export interface ScryptCost {
  readonly logN: number;
  readonly r: number;
  readonly p: number;
}

/** Queues for hashing passwords: sign-ins in known browsers come first. */
export type Line = 'known' | 'others';

/** Hashes passwords with scrypt, outside the event loop. */
export type Passwords = ReturnType<typeof createPasswords>;

/** Cost of password hashes in production: 128 MiB and about a quarter of a second per hash. */
const strong: ScryptCost = { logN: 17, r: 8, p: 1 };
const keyLength = 32;

/**
 * Maximum number of hashes that are computed at a time. libuv has four threads for files, name look-ups and
 * hashes, and each hash needs its memory.
 */
const concurrency = 2;
const waitingLine = 24;

const format = /^scrypt\$(\d{1,2})\$(\d{1,2})\$(\d{1,2})\$([A-Za-z0-9_-]{22})\$([A-Za-z0-9_-]{43})$/;

/**
 * Makes a function that runs at most `concurrency` tasks at once. Tasks of the queue `known` come first, and
 * each queue is in order of arrival. The function refuses a task while `waitingLine` tasks wait in its queue.
 */
function turnstile(): <Result>(work: () => Promise<Result>, line: Line) => Promise<Result> {
  const lines: Readonly<Record<Line, (() => void)[]>> = { known: [], others: [] };
  let running = 0;
  return async (work, line) => {
    if (running >= concurrency) {
      if (lines[line].length >= waitingLine) throw new TooBusy('too many sign-ins at once');
      // A finished task passes its place on, so `running` does not change.
      await new Promise<void>((enter) => lines[line].push(enter));
    } else {
      running += 1;
    }
    try {
      return await work();
    } finally {
      const next = lines.known.shift() ?? lines.others.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}

const scryptOf = promisify<string, Uint8Array, number, ScryptOptions, Buffer>(scrypt);

function derive(password: string, salt: Uint8Array, { logN, r, p }: ScryptCost): Promise<Buffer> {
  const N = 2 ** logN;
  const options = { N, r, p, maxmem: 129 * N * r + 1024 * r * p };
  // Normalise (NIST SP 800-63B, 3.1.1.2), so that a password gives the same bytes on every keyboard.
  return scryptOf(password.normalize('NFKC'), salt, keyLength, options);
}

/**
 * Makes the functions that hash and verify passwords. Tests pass a lower cost; each hash contains its own
 * cost.
 */
export function createPasswords(cost: ScryptCost = strong) {
  const inTurn = turnstile();
  const prefix = `scrypt$${cost.logN}$${cost.r}$${cost.p}$`;
  const nobody = { salt: randomBytes(16), key: randomBytes(keyLength), cost };

  function parse(stored: string): typeof nobody {
    const [, logN, r, p, salt, key] = format.exec(stored) ?? [];
    if (salt === undefined || key === undefined) throw new Error('a stored password hash is malformed');
    return {
      cost: { logN: Number(logN), r: Number(r), p: Number(p) },
      salt: Buffer.from(salt, 'base64url'),
      key: Buffer.from(key, 'base64url'),
    };
  }

  return {
    /** Hashes a new password with a random salt. @throws {@link TooBusy} */
    async hash(password: string): Promise<string> {
      const salt = randomBytes(16);
      const key = await inTurn(() => derive(password, salt, cost), 'others');
      return `${prefix}${salt.toString('base64url')}$${key.toString('base64url')}`;
    },
    /**
     * Verifies a password in constant time. If `stored` is `null` (no such user), takes equally long and
     * returns `false`.
     * @param line - queue of the check: users in `known` do not wait for those in `others`, however many
     * guess passwords
     * @throws {@link TooBusy}
     */
    async verify(password: string, stored: string | null, line: Line = 'others'): Promise<boolean> {
      const expected = stored === null ? nobody : parse(stored);
      const key = await inTurn(() => derive(password, expected.salt, expected.cost), line);
      return timingSafeEqual(key, expected.key) && stored !== null;
    },
    /** Checks whether a password hash was made with a cost other than the current one. */
    isOutdated: (stored: string): boolean => !stored.startsWith(prefix),
  };
}
