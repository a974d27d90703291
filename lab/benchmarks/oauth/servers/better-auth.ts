// better-auth with its provider plug-in on PostgreSQL, configured as its manual says.
import { hash, randomBytes } from 'node:crypto';
import { oauthProvider } from '@better-auth/oauth-provider';
import { type BetterAuthOptions, type BetterAuthPlugin, betterAuth } from 'better-auth';
import { getMigrations } from 'better-auth/db/migration';
import { toNodeHandler } from 'better-auth/node';
import { jwt } from 'better-auth/plugins';
import { Pool } from 'pg';
import { users } from '../../../support/measure/directory.ts';
import { serve, settings } from '../../../support/processes/control.ts';
import { eachOf } from '../../../support/proof.ts';
import { type ClientCredentials, redirectUri, scope } from '../fixture.ts';

const { port, database } = settings<{ readonly port: number; readonly database: string }>();
const origin = `http://127.0.0.1:${port}`;
const basePath = '/api/auth';
const directory = new Map<string, (typeof users)[number]>(users.map((user) => [user.sub, user]));
const clientId = 'bench-client';
const clientSecret = randomBytes(24).toString('base64url');
const digestOf = (value: string) => hash('sha256', value, 'base64url');

// Fastest configuration: the client is kept in memory, logs and limits are off, the key has the kind and size
// of Ostiary's.
const provider = oauthProvider({
  ...{ loginPage: '/login', consentPage: '/consent', cachedTrustedClients: new Set([clientId]) },
  customUserInfoClaims({ user }) {
    const { kid, role, country, createdAt } = directory.get(user.id) ?? {};
    return { kid, role, country, createdAt };
  },
});
const options: BetterAuthOptions = {
  ...{ baseURL: origin, basePath, secret: randomBytes(32).toString('base64') },
  database: new Pool({ connectionString: database, max: 10 }),
  ...{ logger: { disabled: true }, telemetry: { enabled: false }, rateLimit: { enabled: false } },
  disabledPaths: ['/token'],
  plugins: [
    jwt({
      jwks: { keyPairConfig: { alg: 'RS256', modulusLength: 2048 } },
      jwt: { issuer: origin },
      disableSettingJwtHeader: true,
    }),
    // Cast, because its types do not match `exactOptionalPropertyTypes`.
    provider as unknown as BetterAuthPlugin,
  ],
};
await (await getMigrations(options)).runMigrations();
const auth = betterAuth(options);
const { adapter, internalAdapter } = await auth.$context;
const sessions: string[] = [];

/** Creates a client of better-auth, and users who are signed in. */
async function prepare(): Promise<ClientCredentials> {
  const now = new Date();
  await adapter.create({
    model: 'oauthClient',
    data: {
      ...{ clientId, clientSecret: digestOf(clientSecret), redirectUris: [redirectUri], scopes: [scope] },
      ...{ tokenEndpointAuthMethod: 'client_secret_post', grantTypes: ['authorization_code'] },
      ...{ requirePKCE: false, skipConsent: true, createdAt: now, updatedAt: now },
    },
  });
  await eachOf(users, 64, async ({ sub, name, handle }, index) => {
    const email = `${handle}@app.example`;
    const data = { id: sub, name, email, emailVerified: true, createdAt: now, updatedAt: now };
    await adapter.create({ model: 'user', data, forceAllowId: true });
    sessions[index] = (await internalAdapter.createSession(sub)).id;
  });
  const [token, userinfo] = [`${basePath}/oauth2/token`, `${basePath}/oauth2/userinfo`];
  return { clientId, clientSecret, unusual: { token, userinfo, jwks: `${basePath}/jwks` } };
}

/**
 * Writes the rows that better-auth's authorize endpoint writes for a signed-in user: the digest of a code,
 * with the request and the session. The timed exchange therefore finds the same row as after a redirect.
 */
async function mint(count: number): Promise<string[]> {
  return eachOf(Array.from({ length: count }), 64, async (_, index) => {
    const code = randomBytes(24).toString('base64url');
    const now = Date.now();
    const query = { response_type: 'code', client_id: clientId, redirect_uri: redirectUri, scope };
    await internalAdapter.createVerificationValue({
      identifier: digestOf(code),
      value: JSON.stringify({
        ...{ type: 'authorization_code', query, userId: users[index % users.length]?.sub },
        ...{ sessionId: sessions[index % users.length], authTime: now - 60_000 },
      }),
      expiresAt: new Date(now + 600_000),
    });
    return code;
  });
}

await serve(toNodeHandler(auth), { prepare, mint }, port);
