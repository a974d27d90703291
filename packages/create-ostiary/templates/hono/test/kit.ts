import { getRequestListener } from '@hono/node-server';
import { createTestOstiary } from '@ostiary/testing';
import { createApp } from '../src/app.ts';
import { options } from '../src/ostiary.ts';
import { authUrl } from '../src/settings.ts';

/** Starts the app with storage in memory and without a port. */
export async function startKit() {
  const kit = await createTestOstiary({ ...options, authUrl });
  kit.serve(getRequestListener(createApp(kit.ostiary).fetch));
  return kit;
}
