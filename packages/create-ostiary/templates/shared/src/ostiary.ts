import { createOstiary, type Ostiary, type OstiaryOptions } from '@ostiary/core';
// <mcp>
import { assistantScopes, mcpResources, mcpScopes, provisionAssistant } from './assistants.ts';
// </mcp>
import { provisionDemoClient } from './demo-client.ts';
import { sessionOf, signOut } from './login.ts';
import { authUrl, sealingKey, trustedProxies } from './settings.ts';
import { storage } from './storage.ts';
import { findUser } from './users.ts';

/**
 * Options of Ostiary: how it finds your users, which user is signed in, and the URL of the login page. Tests
 * use these options too.
 */
export const options = {
  users: { find: (sub) => findUser(sub) },
  login: {
    authenticate: (request) => sessionOf(request.headers.cookie),
    loginUrl(returnTo) {
      // Pass a path only, so that the login page never redirects to another site.
      const { pathname, search } = new URL(returnTo);
      return `/login?${new URLSearchParams({ return_to: pathname + search })}`;
    },
    signOut,
  },
  // Scopes in addition to the built-in ones such as `openid` and `profile`. `email` needs its fields in
  // src/users.ts.
  scopes: {
    email: true,
    // <mcp>
    ...mcpScopes,
    // </mcp>
  },
  languages: ['en', 'fr'],
  // <mcp>
  resources: mcpResources,
  // With refresh tokens, assistants need not ask their users to sign in every hour.
  refreshTokens: {},
  // </mcp>
} satisfies Partial<OstiaryOptions>;

/** Opens Ostiary with the settings of this machine, provisions local clients and starts the worker. */
export async function openOstiary(own: typeof options = options): Promise<Ostiary> {
  const ostiary = await createOstiary({
    ...own,
    authUrl,
    storage: storage(),
    sealingKeys: [sealingKey],
    trustedProxies,
    // <mcp>
    // Assistants that publish a metadata document need no client id. Users are asked at every sign-in.
    clientMetadataDocuments: { scopes: assistantScopes },
    // </mcp>
  });
  await provisionDemoClient(ostiary);
  // <mcp>
  await provisionAssistant(ostiary);
  // </mcp>
  ostiary.worker.start(); // removes old rows
  return ostiary;
}
