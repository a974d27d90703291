import { LRUCache } from 'lru-cache';
import { usableKeys } from '../keys/client-jwks.ts';
import type { Core } from '../options/context.ts';
import type { ClientJwks, ClientRecord } from '../ports/clients.ts';
import { goesOn } from '../time/clock.ts';

/** Maximum number of clients' key documents in memory. */
const maxDocuments = 1_000;

/** Time for which a client's fetched keys are used without fetching their document again, in milliseconds. */
const freshMs = 10 * 60_000;

/**
 * Time for which a client's fetched keys are used while their document cannot be fetched, in milliseconds.
 */
const staleMs = 60 * 60_000;

/**
 * Minimum time between two fetches of one key document, in milliseconds, even for unknown key ids and after
 * failures.
 */
const restMs = 30_000;

/** Keys of a client's key document (JWK Set) from its last successful fetch; `jwks` is `null` before that. */
interface Document {
  readonly jwks: ClientJwks | null;
  readonly fetchedAt: number;
  /** Time of the last fetch of the key document, successful or not. */
  readonly triedAt: number;
}

/** Thrown if the keys of a client cannot be fetched at the moment. */
export class UnreachableKeysError extends Error {
  override readonly name = 'UnreachableKeysError';
}

/** Parses the text of a key document (JWK Set) and returns its usable keys. */
function jwksIn(text: string): { readonly jwks: ClientJwks } | { readonly problem: string } {
  try {
    return { jwks: usableKeys(JSON.parse(text)) };
  } catch (error) {
    return { problem: error instanceof TypeError ? error.message : 'it is not JSON' };
  }
}

/** Creates the function that finds the keys of a client. It caches the key documents that clients publish. */
export function clientKeys({ readJwks, clock, options: { logger } }: Core) {
  const documents = new LRUCache<string, Document>({ max: maxDocuments });
  /** Running fetches by URL: concurrent requests for one key document share a fetch. */
  const underWay = new Map<string, Promise<Document>>();

  /** Fetches a client's key document. After a failure, keeps the keys of the previous fetch. */
  async function fetched(url: string, previous: Document | undefined): Promise<Document> {
    const triedAt = clock.now();
    const read = await readJwks(url);
    const found = 'problem' in read ? read : jwksIn(read.text);
    let document: Document;
    if ('problem' in found) {
      logger.warn({ url, reason: found.problem }, 'the keys of a client could not be read');
      document = { jwks: previous?.jwks ?? null, fetchedAt: previous?.fetchedAt ?? 0, triedAt };
    } else document = { ...found, fetchedAt: triedAt, triedAt };
    documents.set(url, document);
    return document;
  }

  /**
   * Returns a client's key document. Fetches the document again if the cached one is too old or lacks the key
   * id, but at most once in 30 seconds.
   */
  function documentWith(url: string, kid: string | undefined): Document | Promise<Document> {
    const known = documents.get(url);
    const now = clock.now();
    if (known !== undefined) {
      const isFresh = known.jwks !== null && goesOn(known.fetchedAt + freshMs, now, freshMs);
      const hasKey = kid === undefined || known.jwks?.keys.some((key) => key.kid === kid);
      if ((isFresh && hasKey) || goesOn(known.triedAt + restMs, now, restMs)) return known;
    }
    const fetching = underWay.get(url) ?? fetched(url, known).finally(() => underWay.delete(url));
    underWay.set(url, fetching);
    return fetching;
  }

  /**
   * Returns the keys of a client; `null` if it has none.
   * @param kid - key id of the signature to verify: a cached document without this key is fetched again
   * @throws UnreachableKeysError if the keys cannot be fetched
   */
  return async ({ jwks, jwksUri }: ClientRecord, kid: string | undefined): Promise<ClientJwks | null> => {
    if (jwks) return jwks;
    if (!jwksUri) return null;
    const document = await documentWith(jwksUri, kid);
    if (document.jwks === null || !goesOn(document.fetchedAt + staleMs, clock.now(), staleMs))
      throw new UnreachableKeysError(`the keys at ${jwksUri} cannot be fetched`);
    return document.jwks;
  };
}
