import { randomBytes } from 'node:crypto';

/** Where randomness comes from. */
export interface Random {
  /** Bytes that nobody can guess. */
  bytes(size: number): Buffer;
}

/** What prints a new sealing key. */
export const keyCommand = `node -p "require('crypto').randomBytes(32).toString('base64url')"`;

/** The operating system's generator. */
export const systemRandom: Random = { bytes: (size) => randomBytes(size) };
