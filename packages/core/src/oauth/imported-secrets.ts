import { HostTimeoutError, OAuthError } from '../errors.ts';
import type { Core } from '../options/context.ts';
import type { ClientRecord, ClientSecretRecord, ClientState } from '../ports/clients.ts';
import { digest, digestText, minImportedSecret } from '../secrets/tokens.ts';

/** A secret that a client sent from an IP address, and the imported hash to compare it with. */
interface PresentedSecret {
  readonly client: ClientRecord & Partial<ClientState>;
  readonly stored: ClientSecretRecord;
  readonly secret: string;
  /** IP address of the client; `null` if it cannot be determined. */
  readonly address: string | null;
}

/** Limits how many client authentications of an IP address may fail. */
export interface FailureLimit {
  /**
   * Refuses an IP address whose client authentications have failed too often. @throws OAuthError `slow_down`
   */
  requireRoom(address: string | null, now: number): Promise<void>;
  consume(address: string | null, now: number): Promise<unknown>;
}

/** Compares a client's secret with the imported hash of the client. */
export type CheckImportedSecret = (presented: PresentedSecret) => Promise<boolean>;

/**
 * Maximum number of slow hashes that are computed at the same time. Slow hashes usually run on libuv's four
 * threads, which file access and name look-ups need as well.
 */
const concurrency = 2;
/**
 * Maximum number of checks of one client's secret that wait for a slow hash, so that guesses at one client's
 * secret do not delay another client for long.
 */
const waitingPerClient = 8;
/** Maximum number of checks that wait for a slow hash, for all clients together. */
const waitingAtMost = 64;

/**
 * Creates a queue that runs a limited number of secret checks at once and lets a limited number wait, in the
 * order of their arrival. Resolves with a function that releases the place.
 * @throws OAuthError `temporarily_unavailable` if too many checks wait already
 */
function boundedPlaces(): (clientId: string) => Promise<() => void> {
  const waiting: { readonly clientId: string; readonly enter: () => void }[] = [];
  let running = 0;

  function leave(): void {
    const next = waiting.shift();
    // If a check waits, it takes over the place, so the number of running checks stays the same.
    if (next === undefined) running -= 1;
    else next.enter();
  }

  return async (clientId) => {
    if (running < concurrency) {
      running += 1;
      return leave;
    }
    const ofClient = waiting.filter((check) => check.clientId === clientId).length;
    if (ofClient >= waitingPerClient || waiting.length >= waitingAtMost) {
      throw new OAuthError('temporarily_unavailable', 'Too many secrets are being checked at the moment.', {
        headers: { 'Retry-After': '1' },
        cause: { client: clientId, reason: 'too many imported secrets are being checked' },
      });
    }
    await new Promise<void>((enter) => waiting.push({ clientId, enter }));
    return leave;
  };
}

/**
 * Creates the check of secrets that were imported from another system as hashes. After a successful check the
 * SHA-256 of the secret replaces the slow hash, unless the secret is so short that it needs the slow hash for
 * protection.
 *
 * A slow hash costs far more than the request that asks for it. Therefore few run at once and few may wait. The limit
 * of failures is checked again when a waiting check starts, so that concurrent guesses cannot bypass it.
 */
export function importedSecrets(
  { storage: { clients }, options, clock }: Core,
  failures: FailureLimit,
): CheckImportedSecret {
  const { verifyImportedSecret: verify, logger } = options;
  const enter = boundedPlaces();
  /** Running checks of imported secrets: concurrent requests with the same secret share one check. */
  const underWay = new Map<string, Promise<boolean>>();

  async function matches({ client, stored, secret, address }: PresentedSecret): Promise<boolean> {
    if (verify === undefined) {
      logger.warn(
        { client: client.clientId },
        'the secret of a client was imported: set verifyImportedSecret',
      );
      return false;
    }
    const leave = await enter(client.clientId);
    try {
      await failures.requireRoom(address, clock.now());
      return (await verify(secret, Buffer.from(stored.digest).toString('utf8'))) === true;
    } catch (error) {
      // Count a guess that makes the hash too slow like any other wrong one.
      if (error instanceof HostTimeoutError) await failures.consume(address, clock.now());
      throw error;
    } finally {
      leave();
    }
  }

  /**
   * Replaces an imported hash with the SHA-256 of the client's secret. Does nothing if the client was changed
   * in the meantime: a later request replaces the hash.
   */
  async function storeDigest({ client, stored, secret }: PresentedSecret): Promise<void> {
    const { imported: _, ...record } = { ...stored, digest: digest(secret) };
    const { partnerDisabled: __, ...found } = client;
    const secrets = found.secrets.map((one) => (one === stored ? record : one));
    await clients.replace({ ...found, secrets, version: found.version + 1 });
  }

  async function check(presented: PresentedSecret): Promise<boolean> {
    const { stored, secret } = presented;
    if (stored.expiresAt !== null && stored.expiresAt <= clock.now()) return false;
    if (!(await matches(presented))) return false;
    if (secret.length >= minImportedSecret) await storeDigest(presented);
    return true;
  }

  return (presented) => {
    const { client, secret } = presented;
    const name = `${client.clientId} ${client.version} ${digestText(secret)}`;
    const checking = underWay.get(name) ?? check(presented);
    underWay.set(name, checking);
    return checking.finally(() => underWay.delete(name));
  };
}
