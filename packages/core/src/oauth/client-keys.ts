import { LRUCache } from 'lru-cache';
import { usableKeys } from '../keys/client-jwks.ts';
import type { Core } from '../options/context.ts';
import type { ClientJwks, ClientRecord } from '../ports/clients.ts';

/** Documents that are kept at once. */
const maxDocuments = 1_000;

/** Time for which fetched keys are used without a look at their document, in milliseconds. */
const freshMs = 10 * 60_000;

/** Time for which fetched keys are used while their document cannot be fetched, in milliseconds. */
const staleMs = 60 * 60_000;

/** Time between two fetches of one document, in milliseconds. Unknown key ids and failures fetch no sooner. */
const restMs = 30_000;

/** Keys of a document, as of the last fetch that succeeded. */
interface Document {
  readonly jwks: ClientJwks | null;
  readonly fetchedAt: number;
  /** Time of the last fetch, whether it succeeded or not. */
  readonly triedAt: number;
}

/** Says that the keys of a client cannot be read at the moment. */
export class UnreachableKeysError extends Error {
  override readonly name = 'UnreachableKeysError';
}

/** Reads the usable keys in the text of a document. */
function jwksIn(text: string): { readonly jwks: ClientJwks } | { readonly problem: string } {
  try {
    return { jwks: usableKeys(JSON.parse(text)) };
  } catch (error) {
    return { problem: error instanceof TypeError ? error.message : 'it is not JSON' };
  }
}

/** Returns the function that finds the keys of a client, with the cache of the documents that clients publish. */
export function clientKeys({ readJwks, clock, options: { logger } }: Core) {
  const documents = new LRUCache<string, Document>({ max: maxDocuments });
  /** Fetches under way: requests that need the same document at the same time share one. */
  const underWay = new Map<string, Promise<Document>>();

  /** Fetches a document. After a failure the keys of the previous fetch stay. */
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

  /** Finds a document that is fresh and has the key, if that is possible without fetching it too often. */
  function documentWith(url: string, kid: string | undefined): Document | Promise<Document> {
    const known = documents.get(url);
    const now = clock.now();
    if (known !== undefined) {
      const isFresh = known.jwks !== null && now - known.fetchedAt < freshMs;
      const hasKey = kid === undefined || known.jwks?.keys.some((key) => key.kid === kid);
      if ((isFresh && hasKey) || now - known.triedAt < restMs) return known;
    }
    const fetching = underWay.get(url) ?? fetched(url, known).finally(() => underWay.delete(url));
    underWay.set(url, fetching);
    return fetching;
  }

  /**
   * Returns the keys of a client; `null` for a client that has none.
   * @param kid - of the signature that they are to check: a document without this key is fetched once more
   * @throws UnreachableKeysError
   */
  return async ({ jwks, jwksUri }: ClientRecord, kid: string | undefined): Promise<ClientJwks | null> => {
    if (jwks) return jwks;
    if (!jwksUri) return null;
    const document = await documentWith(jwksUri, kid);
    if (document.jwks === null || clock.now() - document.fetchedAt >= staleMs)
      throw new UnreachableKeysError(`the keys at ${jwksUri} cannot be fetched`);
    return document.jwks;
  };
}
