import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import type { Ostiary } from '@ostiary/core';
import { freePort } from '../../../../lab/support/free-port.ts';
import { certificate } from '../../../../packages/core/test/webhooks/support/target-certificate.ts';
import { createHost, type Host } from '../../src/host.ts';
import type { Stop } from '../../src/listening.ts';
import { openOstiary, type Settings } from '../../src/ostiary.ts';
import { clientAddress, startTlsProxy } from './tls-proxy.ts';

/** Function that starts an example. The settings are for examples that run in another process. */
export type Serve = (ostiary: Ostiary, host: Host, port: number, settings: Settings) => Promise<Stop>;

/** A way to deploy an example: with or without path prefixes, and with or without a proxy. */
export interface Variant {
  readonly name: string;
  /** True if the URLs of Ostiary have paths. */
  readonly prefix: boolean;
  /** True if a proxy in front of the example terminates TLS. */
  readonly tls: boolean;
}

const atRoot: Variant = { name: 'at the root', prefix: false, tls: false };

export const prefixedBehindProxy: Variant = {
  name: 'under path prefixes, behind a proxy with TLS',
  prefix: true,
  tls: true,
};

/** Two ways to deploy an example: with neither path prefixes nor a proxy, and with both. */
export const twoVariants: readonly Variant[] = [atRoot, prefixedBehindProxy];

export const variants: readonly Variant[] = [
  ...twoVariants,
  { name: 'under path prefixes', prefix: true, tls: false },
  { name: 'at the root, behind a proxy with TLS', prefix: false, tls: true },
];

/** A running example server with its URL. */
export interface Deployment {
  readonly ostiary: Ostiary;
  /** URL of the host app as browsers see it. */
  readonly site: string;
  readonly authUrl: string;
  readonly baseUrl: string;
  /** Client IP address of the tests' requests, as Ostiary must see it. */
  readonly clientAddress: string;
  stop(): Promise<void>;
}

/** Calls `start` with a free port, and tries again if another process has taken the port in the meantime. */
async function onFreePort<Started>(start: (port: number) => Promise<Started>): Promise<Started> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await start(await freePort());
    } catch (error) {
      if (attempt === 5 || !(error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'))
        throw error;
    }
  }
}

/** Returns the URLs of Ostiary in a deployment whose host app is at `site`. */
function addressesOf(site: string, { prefix }: Variant): { authUrl: string; baseUrl: string } {
  return prefix ? { authUrl: `${site}/id`, baseUrl: `${site}/api` } : { authUrl: site, baseUrl: site };
}

/**
 * Starts an example in one of the ways to deploy it. If `worker` is false, this process starts no background
 * worker, because another process has one or the test needs none.
 */
async function deploy(serve: Serve, variant: Variant, worker: boolean): Promise<Deployment> {
  const folder = mkdtempSync(join(tmpdir(), 'ostiary-mounts-'));
  const proxy = variant.tls ? await startTlsProxy() : null;
  const opened = await onFreePort(async (port) => {
    proxy?.forwardTo(port);
    const site = proxy?.origin ?? `http://127.0.0.1:${port}`;
    const addresses = addressesOf(site, variant);
    const host = createHost(site);
    const settings: Settings = {
      ...addresses,
      file: join(folder, `${port}.db`),
      sealingKey: randomBytes(32).toString('base64url'),
      trustedProxies: variant.tls ? ['127.0.0.1'] : [],
      // The tests' webhook receivers are on this machine.
      webhooks: { allowPrivateTargets: true },
    };
    const ostiary = await openOstiary(host, settings);
    try {
      const stopServer = await serve(ostiary, host, port, settings);
      if (worker) ostiary.worker.start();
      return { ostiary, site, ...addresses, stopServer };
    } catch (error) {
      await ostiary.close();
      throw error;
    }
  });
  const { stopServer, ...deployment } = opened;
  return {
    ...deployment,
    clientAddress: variant.tls ? clientAddress : '127.0.0.1',
    async stop() {
      await proxy?.stop();
      await stopServer();
      await deployment.ostiary.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Deploys an example, calls `use` with the deployment, and removes the deployment. */
export async function deployed(
  serve: Serve,
  use: (deployment: Deployment) => Promise<void>,
  { variant = atRoot, worker = true }: { readonly variant?: Variant; readonly worker?: boolean } = {},
): Promise<void> {
  const trusted = getCACertificates();
  if (variant.tls) setDefaultCACertificates([...trusted, certificate]);
  // Trust the certificate only until the end: other test files in this process must not.
  await using opened = new AsyncDisposableStack();
  opened.defer(() => setDefaultCACertificates(trusted));
  const deployment = opened.adopt(await deploy(serve, variant, worker), (it) => it.stop());
  await use(deployment);
}
