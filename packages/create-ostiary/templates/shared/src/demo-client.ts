import { isDeepStrictEqual } from 'node:util';
import type { Ostiary } from '@ostiary/core';
import { authUrl, isPublic } from './settings.ts';

const clientId = 'demo-app';
const settings = {
  name: 'Demo app',
  redirectUris: ['http://localhost:4000/callback'],
  allowedScopes: ['openid', 'profile', 'email'],
};

/**
 * Creates the demo client, an app on your own machine that may sign users in. An existing one gets the
 * settings above.
 */
export async function provisionDemoClient({ admin }: Ostiary): Promise<void> {
  if (isPublic) return;
  const found = await admin.clients.get(clientId);
  // Public, without a secret: the client proves with PKCE that the code is its own.
  if (found === null) await admin.clients.create({ clientId, public: true, ...settings });
  else if (!isDeepStrictEqual({ ...found, ...settings }, found))
    await admin.clients.update(clientId, settings);
  console.log(
    `Ostiary is at ${authUrl}\nDemo client: ${clientId}, redirect URI: ${settings.redirectUris.join(', ')}`,
  );
}
