import type { Sealer } from '../keys/sealing.ts';
import type { SigningKeys } from '../keys/signing-keys.ts';
import type { AddressedRequest } from '../limits/client-address.ts';
import type { Clock } from '../ports/clock.ts';
import type { Work } from '../ports/queue.ts';
import type { Storage } from '../ports/storage.ts';
import type { MissingFieldLog } from '../scopes/user-record.ts';
import type { Random } from '../secrets/random.ts';
import type { TokenFormats } from '../secrets/tokens.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import type { Options } from './options.ts';

/** Dependencies shared by all rooms. Built once, in `ostiary.ts`. */
export interface Core {
  readonly options: Options;
  readonly storage: Storage;
  readonly clock: Clock;
  readonly random: Random;
  readonly sealer: Sealer;
  readonly signingKeys: SigningKeys;
  readonly tokens: TokenFormats;
  /** Spans and metrics; `null` if the host did not enable them. */
  readonly telemetry: Telemetry | null;
  /** Notifies workers of newly committed work, such as a job or an event with deliveries. */
  readonly notifyWorkers: (work: Work) => void;
  /** Logs a field that the host's user records lack, once per field. */
  readonly logMissingFields: MissingFieldLog;
  readonly clientAddress: (request: AddressedRequest) => string | null;
}
