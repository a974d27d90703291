import type { Clock } from './clock.ts';
import type { Sealer } from './keys/sealing.ts';
import type { SigningKeys } from './keys/signing-keys.ts';
import type { Options } from './options.ts';
import type { Work } from './ports/queue.ts';
import type { Storage } from './ports/storage.ts';
import type { Random } from './random.ts';
import type { Telemetry } from './telemetry.ts';
import type { TokenFormats } from './tokens.ts';
import type { MissingFieldLog } from './user-record.ts';

/** What is looked at of a request to find its client's address: Node's has it. */
export interface AddressedRequest {
  readonly socket: { readonly remoteAddress?: string | undefined };
  readonly headers: { readonly [name: string]: string | readonly string[] | undefined };
}

/** Dependencies shared by all rooms. Built once, in `ostiary.ts`. */
export interface Core {
  readonly options: Options;
  readonly storage: Storage;
  readonly clock: Clock;
  readonly random: Random;
  readonly sealer: Sealer;
  readonly signingKeys: SigningKeys;
  readonly tokens: TokenFormats;
  /** Spans and metrics, where the host asked for them. */
  readonly telemetry: Telemetry | null;
  /** Tells of new work that is committed: a job that was queued, an event that goes to endpoints. */
  readonly wake: (work: Work) => void;
  /** Logs fields that the host's user records lack, once for each field. */
  readonly logMissingFields: MissingFieldLog;
  readonly clientAddress: (request: AddressedRequest) => string | null;
}

/** An address below one of the configured ones, whatever path those have. */
export function urlBelow(base: URL, path: string): string {
  return base.origin + base.pathname.replace(/\/$/, '') + path;
}
