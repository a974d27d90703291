import type { IncomingHttpHeaders } from 'node:http';
import { OAuthError } from '../errors.ts';
import { addressLimit, requireAllowed } from '../http/address-limit.ts';
import type { ClientDocuments, Core } from '../options/context.ts';
import type { Options } from '../options/parse.ts';
import type { ClientRecord, ClientState } from '../ports/clients.ts';
import { clockToleranceMs } from '../time/clock.ts';
import { freshForMs } from './document-freshness.ts';
import { addressCounts } from './limits.ts';
import { type ClientMetadata, DocumentError, documentUrl, readMetadata } from './metadata-document.ts';

/**
 * Maximum number of stored clients with metadata documents. Beyond it, a new client replaces the least
 * recently used client that is enabled and has no grant. Without such a client, the new client is refused
 * with 503.
 */
const maxDocuments = 10_000;
/**
 * Maximum number of metadata documents per hour that one client address can make this service fetch. Counts
 * documents of unknown clients, and those of known clients that cannot be read.
 */
const newPerHour = 30;
/** Maximum number of metadata documents that this process fetches at the same time. */
const maxReads = 32;

/** Fetches the text of a document from a URL. Never rejects, even if the other server misbehaves. */
export type ReadDocument = (
  url: string,
) => Promise<{ readonly text: string; readonly headers: IncomingHttpHeaders } | { readonly problem: string }>;

const unavailable = (cause: string): OAuthError =>
  new OAuthError('temporarily_unavailable', undefined, {
    cause: new Error(cause),
    headers: { 'Retry-After': '5' },
  });

/**
 * Creates the client that a metadata document describes. Settings that a document must not decide have fixed
 * values.
 */
function clientOf(
  url: URL,
  metadata: ClientMetadata,
  {
    stored,
    scopes,
    now,
    keptForMs,
  }: { stored: ClientRecord | null; scopes: readonly string[]; now: number; keptForMs: number },
): ClientRecord {
  const { claimedName, redirectUris, postLogoutRedirectUris, idTokenAlg } = metadata;
  return {
    clientId: url.href,
    name: url.host,
    secrets: [],
    redirectUris,
    postLogoutRedirectUris,
    loopbackPorts: 'any',
    // Stored only for administrators to see: each request uses the scopes of the option.
    allowedScopes: scopes,
    requirePkce: true,
    requireSecret: false,
    firstParty: false,
    idTokenAlg,
    partner: null,
    document: { claimedName, freshUntil: now + keptForMs },
    createdAt: stored?.createdAt ?? now,
    updatedAt: now,
    disabledAt: stored?.disabledAt ?? null,
    version: (stored?.version ?? 0) + 1,
  };
}

/** Creates the functions that find clients whose `client_id` is the URL of a metadata document. */
export function createClientDocuments(
  { storage, clock, options }: Pick<Core, 'storage' | 'clock' | 'options'>,
  { scopes, allow, allowPrivateDocuments }: NonNullable<Options['clientMetadataDocuments']>,
  readDocument: ReadDocument,
): ClientDocuments {
  const counts = addressCounts({ options, storage });
  const limit = addressLimit(counts, { name: 'client documents', limit: newPerHour, windowMs: 3_600_000 });
  const tooMany = 'Too many new client ID metadata documents from this address.';
  const underWay = new Map<string, Promise<ClientState>>();

  /**
   * Returns the URL of a metadata document if the client id is such a URL and the host application accepts
   * it; `null` for any other client id.
   */
  async function admittedUrl(clientId: string): Promise<URL | null> {
    const url = documentUrl(clientId, allowPrivateDocuments);
    if (url === null || (allow !== undefined && (await allow(new URL(url))) !== true)) return null;
    return url;
  }

  const current = (client: ClientState): ClientState => ({ ...client, allowedScopes: scopes });

  async function store(client: ClientRecord): Promise<void> {
    if (client.version > 1) {
      // If this fails, a faster request has stored the document, or an administrator has changed the client.
      await storage.clients.replace(client);
      return;
    }
    const outcome = await storage.clientDocuments.insert(client, { now: clock.now(), limit: maxDocuments });
    if (outcome !== 'full') return;
    options.logger.warn(
      { client: client.clientId },
      'there are as many clients with metadata documents as can be',
    );
    throw unavailable('no more client ID metadata documents can be stored');
  }

  /**
   * Fetches a metadata document and stores its client.
   * @throws DocumentError if the document cannot be used
   * @throws OAuthError `temporarily_unavailable` if the client cannot be stored
   */
  async function readAndStore(url: URL, stored: ClientRecord | null): Promise<ClientState> {
    const result = await readDocument(url.href);
    if ('problem' in result) throw new DocumentError(result.problem);
    const metadata = readMetadata(result.text, url.href);
    const keptForMs = freshForMs(result.headers);
    await store(clientOf(url, metadata, { stored, scopes, now: clock.now(), keptForMs }));
    const client = await storage.clients.find(url.href);
    if (client === null) throw unavailable('the client was removed right after it was stored');
    return client;
  }

  /**
   * Fetches a metadata document and stores its client, once for all concurrent requests with the same URL.
   * @throws DocumentError if the document cannot be used
   * @throws OAuthError `temporarily_unavailable` if the client cannot be stored, or too many documents are
   * being fetched
   */
  async function readOnce(url: URL, stored: ClientRecord | null): Promise<ClientState> {
    const known = underWay.get(url.href);
    if (known !== undefined) return known;
    if (underWay.size >= maxReads) throw unavailable('too many client ID metadata documents are being read');
    const reading = readAndStore(url, stored);
    underWay.set(url.href, reading);
    try {
      return await reading;
    } finally {
      underWay.delete(url.href);
    }
  }

  return {
    async find(clientId) {
      const url = await admittedUrl(clientId);
      const client = url && (await storage.clients.find(url.href));
      return client && current(client);
    },

    async read(clientId, address) {
      const url = await admittedUrl(clientId);
      if (url === null) return null;
      const stored = await storage.clients.find(url.href);
      const now = clock.now();
      if (stored !== null) {
        await storage.clientDocuments.use(url.href, now);
        // A document from the future was stored before the clock was set back, and its true age is unknown.
        const isFresh =
          (stored.document?.freshUntil ?? 0) > now && stored.updatedAt <= now + clockToleranceMs;
        if (stored.disabledAt !== null || isFresh) return current(stored);
        requireAllowed(await counts.peek(limit.requests(address, now)), now, tooMany);
      } else {
        requireAllowed([await limit.consume(address, now)], now, tooMany);
      }
      try {
        return current(await readOnce(url, stored));
      } catch (error) {
        // A known document counts towards the address's limit only if it cannot be read.
        if (stored !== null) await limit.consume(address, now);
        if (!(error instanceof DocumentError)) throw error;
        options.logger.info(
          { client: url.href, reason: error.message },
          'a client ID metadata document cannot be used',
        );
        const description = `The client ID metadata document cannot be used: ${error.message}`;
        throw new OAuthError('invalid_client', description.replace(/\.?$/, '.'));
      }
    },
  };
}
