import type { Ostiary } from '@ostiary/core';
import { authUrl } from './settings.ts';

/** An app on your own machine that may sign users in. */
export const demoClient = {
  clientId: 'demo-app',
  name: 'Demo app',
  redirectUris: ['http://localhost:4000/callback'],
  allowedScopes: ['openid', 'profile', 'email'],
  // Without a secret: it proves with PKCE that the code is its own.
  public: true,
};

/** Makes the demo client with the first start, on your own machine only. */
export async function provisionDemoClient(ostiary: Ostiary): Promise<void> {
  if (authUrl.startsWith('https:')) return;
  const { clientId, redirectUris } = demoClient;
  if ((await ostiary.admin.clients.get(clientId)) === null) await ostiary.admin.clients.create(demoClient);
  console.log(`Ostiary is at ${authUrl}\nDemo client: ${clientId}, redirect URI: ${redirectUris.join(', ')}`);
}
