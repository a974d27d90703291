import type { IncomingMessage } from 'node:http';
import { apiKeyFormat } from '../api-key-format.ts';
import type { Core } from '../context.ts';
import { addressMatcher } from '../http/client-address.ts';
import type { ApiKeyState } from '../ports/api-keys.ts';
import { digest } from '../tokens.ts';

/** The last use of a key is noted at most this often. */
const touchIntervalMs = 60_000;

/** Which keys open the console, judged anew on every request: nothing is cached. */
export interface Access {
  /** The key that was typed in; `null` for every key that does not open the console, whatever the reason. */
  byText(text: string, request: IncomingMessage): Promise<ApiKeyState | null>;
  /** The key of a session, while it opens the console. */
  byId(id: string, request: IncomingMessage): Promise<ApiKeyState | null>;
}

/** See {@link Access}. */
export function createAccess(core: Core): Access {
  const { storage, clock, options, clientAddress } = core;
  const format = apiKeyFormat(options.prefix);

  function isAllowed({ allowlist }: ApiKeyState, request: IncomingMessage): boolean {
    if (allowlist === null) return true;
    const address = clientAddress(request);
    return address !== null && addressMatcher(allowlist)(address);
  }

  function opens(key: ApiKeyState, request: IncomingMessage): boolean {
    const { mode, scopes, revokedAt, expiresAt, partnerDisabled, requireSignature } = key;
    const isInForce =
      revokedAt === null && !partnerDisabled && (expiresAt === null || expiresAt > clock.now());
    // A form cannot be signed, and a key that demands signatures must not do without them here.
    const suits = mode === 'test' && scopes.includes('webhooks') && !requireSignature;
    return isInForce && suits && isAllowed(key, request);
  }

  function admit(key: ApiKeyState | null, request: IncomingMessage): ApiKeyState | null {
    if (key === null || !opens(key, request)) return null;
    const now = clock.now();
    if (now - (key.lastUsedAt ?? 0) >= touchIntervalMs) {
      // Noting the use is no part of the request: it neither waits nor fails for it.
      storage.apiKeys.touch(key.id, now).catch((error: unknown) => {
        options.logger.warn({ err: error, key: key.id }, 'the last use of a key could not be noted');
      });
    }
    return key;
  }

  return {
    async byText(text, request) {
      // What surrounds a key is a slip of the hand that copied it.
      const key = text.trim();
      return admit(format.isKey(key) ? await storage.apiKeys.findByDigest(digest(key)) : null, request);
    },
    byId: async (id, request) => admit(await storage.apiKeys.find(id), request),
  };
}
