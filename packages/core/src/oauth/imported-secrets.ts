import type { Core } from '../context.ts';
import type { ClientRecord, ClientSecretRecord, ClientState } from '../ports/clients.ts';
import { digest, digestText, minImportedSecret } from '../tokens.ts';

/** Whether a secret is the one whose hash was imported, `stored` being the record of that. */
export type IsImportedSecret = (
  client: ClientRecord,
  stored: ClientSecretRecord,
  secret: string,
) => Promise<boolean>;

/**
 * Secrets that came from another system as hashes. A right one is stored by its SHA-256 from then on, so that the slow hash is asked
 * once, unless it is so short that the slow hash is what protects it.
 */
export function importedSecrets({ storage: { clients }, options, clock }: Core): IsImportedSecret {
  /** Requests that present the same at once share one look. */
  const running = new Map<string, Promise<boolean>>();

  async function look(
    client: ClientRecord & Partial<ClientState>,
    stored: ClientSecretRecord,
    secret: string,
  ): Promise<boolean> {
    const { verifyImportedSecret: verify, logger } = options;
    const { clientId } = client;
    if (stored.expiresAt !== null && stored.expiresAt <= clock.now()) return false;
    if (verify === undefined) {
      logger.warn({ client: clientId }, 'the secret of a client was imported: set verifyImportedSecret');
      return false;
    }
    if ((await verify(secret, Buffer.from(stored.digest).toString('utf8'))) !== true) return false;
    if (secret.length >= minImportedSecret) {
      const { imported: _, ...record } = { ...stored, digest: digest(secret) };
      const { partnerDisabled: __, ...found } = client;
      const secrets = found.secrets.map((one) => (one === stored ? record : one));
      // Where somebody else was faster, the next request does it.
      await clients.replace({ ...found, secrets, version: found.version + 1 });
    }
    return true;
  }

  return (client, stored, secret) => {
    const presented = `${client.clientId} ${client.version} ${digestText(secret)}`;
    const one = running.get(presented) ?? look(client, stored, secret);
    running.set(presented, one);
    return one.finally(() => running.delete(presented));
  };
}
