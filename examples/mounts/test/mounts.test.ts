import express from 'express';
import { describe, it, vi } from 'vitest';
import { listening } from '../src/listening.ts';
import { mounts } from '../src/mounts.ts';
import { shop } from '../src/node-http.ts';
import {
  type Deployment,
  deployed,
  prefixedBehindProxy,
  type Serve,
  twoVariants,
  variants,
} from './support/deployment.ts';
import { callPartnerApi, signIn, visitShop } from './support/walk.ts';

// The machines that run these tests may be slow and busy.
vi.setConfig({ testTimeout: 60_000 });

/**
 * Tests a deployment: a sign-in, partner API calls with a webhook, and requests to the host application's own
 * pages.
 */
async function walk(deployment: Deployment): Promise<void> {
  await signIn(deployment);
  await signIn(deployment, { post: true });
  await callPartnerApi(deployment);
  // Paths below /v1/ that Ostiary does not have are left to the host, too.
  await visitShop(deployment, ['/v1/orders', '/v1/partner/orders', '/v1/oauth/token/']);
}

/** Mounts Ostiary in Express at its prefixes only. Express strips them from the path. */
const serveExpressAtPaths: Serve = (ostiary, host, port) => {
  const app = express();
  app.use(['/id', '/api'], ostiary.handler);
  app.use((request, response) => shop(host, request, response));
  return listening(app.listen(port, '127.0.0.1'));
};

describe.each(Object.entries(mounts))('%s', (name, serve) => {
  // Prefixes and a proxy combine in the same way behind every framework, so test all combinations with one of
  // them.
  it.each(name === 'node-http' ? variants : twoVariants)(
    '$name: sign-in, partner API with webhook, and the host beside them',
    (variant) => deployed(serve, walk, { variant }),
  );
});

it('Express, mounted at the paths, behind a proxy with TLS', () =>
  deployed(serveExpressAtPaths, walk, { variant: prefixedBehindProxy }));
