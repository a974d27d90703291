import { randomBytes } from 'node:crypto';

/** Where randomness comes from. */
export interface Random {
  /** Bytes that nobody can guess. */
  bytes(size: number): Buffer;
}

/** The operating system's generator. */
export const systemRandom: Random = { bytes: (size) => randomBytes(size) };
