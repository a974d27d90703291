import { Provider } from 'oidc-provider';
import { users } from '../../../support/measure/directory.ts';
import { resident, serve, settings } from '../../../support/processes/control.ts';
import { eachOf } from '../../../support/proof.ts';
import { claims, paths, redirectUri, scope } from '../fixture.ts';
import { mapAdapter } from './map-adapter.ts';
import { postgresAdapter } from './postgres-adapter.ts';

const { port, key, database } = settings<{
  readonly port: number;
  /** URL of PostgreSQL for the bare provider's data; `null` keeps the data in a Map. */
  readonly database: string | null;
  /** Private RSA key of the bare provider, as a JWK. */
  readonly key: Record<string, unknown>;
}>();
const client = { clientId: 'bench-client', clientSecret: 'bench-secret-4c1d9d1f3a5b4e5c8f0a7b6d' };
const directory = new Map<string, (typeof users)[number]>(users.map((user) => [user.sub, user]));

// Fastest configuration: a static client, all unneeded features off, and the same token lifetimes as Ostiary.
const provider = new Provider(`http://127.0.0.1:${port}`, {
  adapter: database === null ? mapAdapter() : await postgresAdapter(database),
  clients: [
    {
      client_id: client.clientId,
      client_secret: client.clientSecret,
      redirect_uris: [redirectUri],
      response_types: ['code'],
      grant_types: ['authorization_code'],
      token_endpoint_auth_method: 'client_secret_post',
      id_token_signed_response_alg: 'RS256',
    },
  ],
  jwks: { keys: [{ ...key, alg: 'RS256', use: 'sig' }] },
  cookies: { keys: ['a key of the benchmark'] },
  routes: { jwks: paths.jwks, token: paths.token, userinfo: paths.userinfo },
  claims: { openid: [...claims] },
  scopes: [scope],
  responseTypes: ['code'],
  clientAuthMethods: ['client_secret_post'],
  pkce: { required: () => false },
  issueRefreshToken: async () => false,
  expiresWithSession: () => false,
  ttl: { AccessToken: 3600, AuthorizationCode: 600, IdToken: 3600, Grant: 24 * 3600 },
  features: {
    devInteractions: { enabled: false },
    dPoP: { enabled: false },
    pushedAuthorizationRequests: { enabled: false },
    resourceIndicators: { enabled: false },
    rpInitiatedLogout: { enabled: false },
  },
  findAccount(_ctx, sub) {
    const user = directory.get(sub);
    // Use lean ID tokens, like Ostiary's: identity fields come from userinfo.
    return user && { accountId: sub, claims: (use) => (use === 'id_token' ? { sub } : { ...user }) };
  },
});

async function mint(count: number): Promise<string[]> {
  const registered = await provider.Client.find(client.clientId);
  if (registered === undefined) throw new Error('the client is not registered');
  return eachOf(Array.from({ length: count }), 64, async (_, index) => {
    const accountId = users[index % users.length]?.sub ?? '';
    const grant = new provider.Grant({ accountId, clientId: client.clientId });
    grant.addOIDCScope(scope);
    const code = new provider.AuthorizationCode({
      accountId,
      client: registered,
      grantId: await grant.save(),
      gty: 'authorization_code',
      redirectUri,
      scope,
      authTime: Math.floor(Date.now() / 1000) - 60,
    });
    return code.save();
  });
}

await serve(provider.callback(), { prepare: () => client, mint, resident }, port);
