import { isDeepStrictEqual } from 'node:util';
import type { Ostiary } from '@ostiary/core';
import type { NewClient } from '@ostiary/core/admin';
import { authUrl, isPublic } from './settings.ts';

const clientId = 'demo-app';
const settings = {
  name: 'Demo app',
  redirectUris: ['http://localhost:4000/callback'],
  allowedScopes: ['openid', 'profile', 'email'],
};

/**
 * Creates a public client with the given settings. If a client with the id exists, changes its settings
 * instead.
 */
export async function provisionClient(
  { admin }: Ostiary,
  id: string,
  given: Pick<NewClient, 'name' | 'redirectUris' | 'loopbackPorts' | 'allowedScopes'>,
): Promise<void> {
  const found = await admin.clients.get(id);
  // Public, without a secret: the client proves with PKCE that the code is its own.
  if (found === null) await admin.clients.create({ clientId: id, public: true, ...given });
  else if (!isDeepStrictEqual({ ...found, ...given }, found)) await admin.clients.update(id, given);
}

/** Provisions the demo client, an app on your own machine that may sign users in. */
export async function provisionDemoClient(ostiary: Ostiary): Promise<void> {
  if (isPublic) return;
  await provisionClient(ostiary, clientId, settings);
  console.log(
    `Ostiary is at ${authUrl}\nDemo client: ${clientId}, redirect URI: ${settings.redirectUris.join(', ')}`,
  );
}
