import { scopeNames } from '../../src/index.ts';
import type { Json, TestClient, TestProvider } from './provider.ts';
import { startProvider } from './running.ts';

export const allowedScopes = [...scopeNames, 'offline_access'];

/** Starts a provider with refresh tokens, and two clients that may use them. */
export async function refreshing() {
  const provider = await startProvider({ refreshTokens: {}, introspection: true });
  const app = await provider.client({ allowedScopes });

  /** Uses a refresh token as its client does, with optional changes; `undefined` removes a parameter. */
  function refresh(token: unknown, by: TestClient = app, changes: Json = {}, at: TestProvider = provider) {
    const secret = by.secret === null ? {} : { client_secret: by.secret };
    const request = { grant_type: 'refresh_token', refresh_token: token, client_id: by.id, ...secret };
    return at.call('/v1/oauth/token', { ...request, ...changes });
  }

  return {
    provider,
    app,
    spa: await provider.client({ allowedScopes, public: true }),
    /** Signs in with `offline_access`, and returns the client's tokens. */
    connect: (client = app, scope = 'openid profile offline_access', at: TestProvider = provider) =>
      at.tokens(client, { scope, nonce: 'n-1' }),
    refresh,
    outcomeOf: async (...given: Parameters<typeof refresh>) => (await refresh(...given)).outcome,
  };
}
