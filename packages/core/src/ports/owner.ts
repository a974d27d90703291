import type { Mode } from './partners.ts';

/** Whose transfers, endpoints, events and deliveries a call is about; those of others do not exist for it. */
export interface Owner {
  readonly partner: string;
  readonly mode: Mode;
}
