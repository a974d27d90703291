import type { ClientAlgorithm } from '../ports/clients.ts';

/** Algorithms with which clients may sign their JWTs. */
export const clientAlgorithms = [
  'ES256',
  'PS256',
  'EdDSA',
  'Ed25519',
] as const satisfies readonly ClientAlgorithm[];
