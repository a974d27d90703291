import type { ClientAlgorithm } from '../ports/clients.ts';

/** Algorithms of signatures that clients may make. */
export const clientAlgorithms = [
  'ES256',
  'PS256',
  'EdDSA',
  'Ed25519',
] as const satisfies readonly ClientAlgorithm[];
