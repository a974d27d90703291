import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createHost } from './host.ts';
import { mounts } from './mounts.ts';
import { openOstiary } from './ostiary.ts';

const [name = 'express'] = process.argv.slice(2);
const serve = Object.hasOwn(mounts, name) ? mounts[name] : undefined;
if (serve === undefined) {
  process.stderr.write(`usage: main.ts ${Object.keys(mounts).join(' | ')}\n`);
  process.exit(1);
}
const port = Number(process.env.PORT ?? 3000);
const site = `http://127.0.0.1:${port}`;
const folder = mkdtempSync(join(tmpdir(), 'ostiary-example-'));

const host = createHost(site);
const ostiary = await openOstiary(host, {
  authUrl: site,
  file: join(folder, 'ostiary.db'),
  sealingKey: randomBytes(32).toString('base64url'),
});
const stop = await serve(ostiary, host, port);
ostiary.worker.start();

const { client } = await ostiary.admin.clients.create({
  name: 'An app',
  redirectUris: [`${site}/shop`],
  allowedScopes: ['openid', 'profile'],
});
const request = new URLSearchParams({
  response_type: 'code',
  client_id: client.clientId,
  redirect_uri: `${site}/shop`,
  scope: 'openid profile',
});
process.stdout.write(`${name} at ${site}/shop; sign in at ${site}/oauth/authorize?${request}\n`);

/** Stops the example: first new requests, then the background work and the database. */
async function close(): Promise<void> {
  await stop();
  await ostiary.close();
  rmSync(folder, { recursive: true, force: true });
}
process.once('SIGINT', () => void close());
process.once('SIGTERM', () => void close());
