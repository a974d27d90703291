import type { Sealer } from '../keys/sealing.ts';
import type { SigningKeys } from '../keys/signing-keys.ts';
import type { AddressedRequest } from '../limits/client-address.ts';
import type { ClientState } from '../ports/clients.ts';
import type { Clock } from '../ports/clock.ts';
import type { Work } from '../ports/queue.ts';
import type { Storage } from '../ports/storage.ts';
import type { MissingFieldLog } from '../scopes/user-record.ts';
import type { Random } from '../secrets/random.ts';
import type { TokenFormats } from '../secrets/tokens.ts';
import type { HourlyCounts } from '../telemetry/hourly-counts.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import type { Options } from './parse.ts';

/** Finds clients that are described by a client ID metadata document. */
export interface ClientDocuments {
  /**
   * Returns a client whose metadata document was read before; `null` for any other client id. Sends no
   * request.
   */
  find(clientId: string): Promise<ClientState | null>;
  /**
   * Returns the client of an authorization request. Reads its metadata document if it is unknown, or was read
   * too long ago. `null` for a client id that cannot be the URL of a document.
   * @param address - client address of the request, for the limit
   * @throws OAuthError if the document cannot be used
   */
  read(clientId: string, address: string | null): Promise<ClientState | null>;
}

/**
 * Reads the document (JWK Set) at a client's `jwksUri`. Returns its text, or the reason for a failure. Never
 * rejects.
 */
export type ReadJwks = (url: string) => Promise<{ readonly text: string } | { readonly problem: string }>;

/** Dependencies that all parts of the service share. Created once, by `createCore` in `core.ts`. */
export interface Core {
  readonly options: Options;
  readonly storage: Storage;
  readonly clock: Clock;
  readonly random: Random;
  readonly sealer: Sealer;
  readonly signingKeys: SigningKeys;
  readonly tokens: TokenFormats;
  /** Spans and metrics; `null` if the host application did not enable them. */
  readonly telemetry: Telemetry | null;
  /** Hourly counts for the charts on the operators' pages, always on. */
  readonly counts: HourlyCounts;
  /** Notifies workers of newly committed work, such as a job or an event with deliveries. */
  readonly notifyWorkers: (work: Work) => void;
  /** Logs the name of a field that the host application's user records lack, once per field. */
  readonly logMissingFields: MissingFieldLog;
  /** Finds clients with metadata documents; `null` if the option `clientMetadataDocuments` is off. */
  readonly clientDocuments: ClientDocuments | null;
  readonly readJwks: ReadJwks;
  readonly clientAddress: (request: AddressedRequest) => string | null;
}
