import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serveExpress } from './express.ts';
import { serveFastify } from './fastify.ts';
import { serveHono } from './hono.ts';
import { createHost } from './host.ts';
import { serveKoa } from './koa.ts';
import { serveNest } from './nest.ts';
import { serveNodeHttp } from './node-http.ts';
import { openOstiary } from './ostiary.ts';

const mounts = {
  express: serveExpress,
  fastify: serveFastify,
  hono: serveHono,
  koa: serveKoa,
  nest: serveNest,
  'node-http': serveNodeHttp,
};

const [name = 'express'] = process.argv.slice(2);
if (!Object.hasOwn(mounts, name)) {
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
const stop = await mounts[name as keyof typeof mounts](ostiary, host, port);
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

/** First no new requests, then no background work and no database. */
async function close(): Promise<void> {
  await stop();
  await ostiary.close();
  rmSync(folder, { recursive: true, force: true });
}
process.once('SIGINT', () => void close());
process.once('SIGTERM', () => void close());
