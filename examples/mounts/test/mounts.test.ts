import express from 'express';
import { describe, it, vi } from 'vitest';
import { serveExpress } from '../src/express.ts';
import { serveFastify } from '../src/fastify.ts';
import { serveHono } from '../src/hono.ts';
import { serveKoa } from '../src/koa.ts';
import { listening } from '../src/listening.ts';
import { serveNest } from '../src/nest.ts';
import { serveNodeHttp, shop } from '../src/node-http.ts';
import { deploy, type Serve, variants } from './support/deployment.ts';
import { callPartnerApi, signIn, visitShop } from './support/walk.ts';

// Machines that run these are small and busy.
vi.setConfig({ testTimeout: 60_000 });

const mounts: readonly (readonly [string, Serve])[] = [
  ['node:http', serveNodeHttp],
  ['Express', serveExpress],
  ['Fastify', serveFastify],
  ['Koa', serveKoa],
  ['Hono', serveHono],
  ['NestJS', serveNest],
];

/** Express with Ostiary at its prefixes only: Express takes them off. */
const serveExpressAtPaths: Serve = (ostiary, host, port) => {
  const app = express();
  app.use(['/id', '/api'], ostiary.handler);
  app.use((request, response) => shop(host, request, response));
  return listening(app.listen(port, '127.0.0.1'));
};

describe.each(mounts)('%s', (_name, serve) => {
  it.each(variants)('$name: sign-in, partner API with webhook, and the host beside them', async (variant) => {
    const deployment = await deploy(serve, variant);
    try {
      await signIn(deployment);
      await signIn(deployment, { post: true });
      await callPartnerApi(deployment);
      await visitShop(deployment);
    } finally {
      await deployment.stop();
    }
  });
});

it.each(variants.filter(({ prefix }) => prefix))('Express, mounted at the paths, $name', async (variant) => {
  const deployment = await deploy(serveExpressAtPaths, variant);
  try {
    await signIn(deployment);
    await signIn(deployment, { post: true });
    await callPartnerApi(deployment);
    await visitShop(deployment);
  } finally {
    await deployment.stop();
  }
});
