import { scheduleReseal } from './admin/reseal.ts';
import { createSealer } from './keys/sealing.ts';
import { SigningKeys } from './keys/signing-keys.ts';
import { clientAddressFinder } from './limits/client-address.ts';
import { scheduleNoticeSearch } from './notices/search.ts';
import type { ReadDocument } from './oauth/client-documents.ts';
import type { ClientDocuments, Core, ReadJwks } from './options/context.ts';
import type { Options } from './options/parse.ts';
import type { Clock } from './ports/clock.ts';
import type { Storage } from './ports/storage.ts';
import { missingFieldLog } from './scopes/user-record.ts';
import { systemRandom } from './secrets/random.ts';
import { tokenFormats } from './secrets/tokens.ts';
import { createHourlyCounts } from './telemetry/hourly-counts.ts';
import type { Logger } from './telemetry/logger.ts';
import { createTelemetry } from './telemetry/telemetry.ts';
import { nodeTimer } from './time/clock.ts';
import type { DatabaseClock } from './time/database-clock.ts';
import { schedulePurge } from './worker/purge.ts';

/** Returns a function that warns once about requests from a Unix socket whose peer is not trusted. */
function unixPeerWarning(logger: Logger): () => void {
  let isLogged = false;
  return () => {
    if (isLogged) return;
    isLogged = true;
    logger.warn(
      {},
      "requests come over a Unix socket and have no address: add 'unix' to trustedProxies, or allowlists refuse every caller and all callers share one rate limit",
    );
  };
}

/**
 * Creates the object that finds clients with metadata documents; `null` if the option
 * `clientMetadataDocuments` is off. Its code is loaded only if the option is on.
 */
async function clientDocumentsOf(
  options: Options,
  storage: Storage,
  clock: Clock,
  readDocument: ReadDocument | undefined,
): Promise<ClientDocuments | null> {
  const { clientMetadataDocuments: settings, webhooks } = options;
  if (settings === undefined) return null;
  const [{ createClientDocuments }, { createDocumentReader }] = await Promise.all([
    import('./oauth/client-documents.ts'),
    import('./webhooks/documents.ts'),
  ]);
  const read =
    readDocument ??
    createDocumentReader({
      policy: { allowPrivate: settings.allowPrivateDocuments },
      resolve: webhooks.resolve,
      ...{ maxBytes: 5 * 1024, timeoutMs: 5_000 },
    });
  return createClientDocuments({ storage, clock, options }, settings, read);
}

/**
 * Creates the function that fetches clients' key documents (JWK Sets). Its code is loaded with the first
 * document.
 */
function jwksReader({ webhooks }: Options): ReadJwks {
  let loading: Promise<ReadJwks> | null = null;
  return async (url) => {
    loading ??= import('./webhooks/documents.ts').then(({ createDocumentReader }) =>
      createDocumentReader({
        policy: { allowPrivate: webhooks.allowPrivateTargets },
        resolve: webhooks.resolve,
        mediaTypes: ['application/json', 'application/jwk-set+json'],
        ...{ maxBytes: 64 * 1024, timeoutMs: 5_000 },
      }),
    );
    return (await loading)(url);
  };
}

/**
 * Creates the dependencies that all parts of the service share.
 * @param readDocument - reads documents of clients instead of the built-in HTTP client
 */
export async function createCore(
  options: Options,
  clock: Clock,
  notifyWorkers: Core['notifyWorkers'],
  readDocument: ReadDocument | undefined,
): Promise<Core> {
  const { storage } = options;
  const sealer = createSealer(options.sealingKeys, systemRandom);
  return {
    options,
    storage,
    clock,
    random: systemRandom,
    sealer,
    signingKeys: new SigningKeys({ store: storage.signingKeys, sealer, clock, random: systemRandom }),
    tokens: tokenFormats(options.prefix),
    telemetry: options.telemetry ? await createTelemetry() : null,
    counts: createHourlyCounts({
      store: storage.hourlyCounts,
      ...{ clock, logger: options.logger, schedule: nodeTimer },
    }),
    notifyWorkers,
    logMissingFields: missingFieldLog(options.logger),
    clientDocuments: await clientDocumentsOf(options, storage, clock, readDocument),
    readJwks: readDocument ?? jwksReader(options),
    clientAddress: clientAddressFinder(options.trustedProxies, unixPeerWarning(options.logger)),
  };
}

/** Storages that are in use by open instances of this process. */
const inUse = new WeakSet<Storage>();

/**
 * Marks a storage as used by an instance, because each instance closes its storage when it is closed itself.
 * @throws TypeError if another instance of this process uses the storage
 */
function claimStorage(storage: Storage): void {
  if (inUse.has(storage)) {
    throw new TypeError(
      'createOstiary: storage: another instance of this process uses this object; share that instance, or make a storage for each',
    );
  }
  inUse.add(storage);
}

/**
 * Opens the storage and reads the data that the service needs at start. If that fails, closes everything
 * again.
 */
export async function openStorage(core: Core, databaseClock: DatabaseClock | null): Promise<void> {
  const { storage, signingKeys } = core;
  claimStorage(storage);
  try {
    await storage.open(({ message: reason }) =>
      core.options.logger.warn({ reason }, 'the database does not respond yet; waiting for it'),
    );
  } catch (error) {
    inUse.delete(storage);
    throw error;
  }
  try {
    await databaseClock?.start();
    await signingKeys.start();
    await schedulePurge(core);
    await scheduleReseal(core);
    await scheduleNoticeSearch(core);
  } catch (error) {
    databaseClock?.stop();
    // An open database would keep the process running although it failed to start.
    await storage.close().catch(() => undefined);
    inUse.delete(storage);
    throw error;
  }
}

/** Closes a storage, so that another instance may use it then. */
export async function closeStorage(storage: Storage): Promise<void> {
  try {
    await storage.close();
  } finally {
    inUse.delete(storage);
  }
}
