import type { Ostiary } from '@ostiary/core';
import { createHost, type Host } from '../host.ts';
import { openOstiary } from '../ostiary.ts';

/** Objects of which this process has one each. */
interface Parts {
  readonly host: Host;
  readonly ostiary: Promise<Ostiary>;
}

async function start(host: Host): Promise<Ostiary> {
  const { AUTH_URL = 'http://localhost:3000', BASE_URL = AUTH_URL, PROXY_ADDRESS } = process.env;
  const ostiary = await openOstiary(host, {
    authUrl: AUTH_URL,
    baseUrl: BASE_URL,
    file: process.env.DATABASE_FILE ?? 'ostiary.db',
    sealingKey: process.env.SEALING_KEY ?? '',
    trustedProxies: PROXY_ADDRESS === undefined ? [] : [PROXY_ADDRESS],
    webhooks: { allowPrivateTargets: process.env.ALLOW_PRIVATE_TARGETS === '1' },
  });
  ostiary.worker.start();
  return ostiary;
}

function open(): Parts {
  const host = createHost(new URL(process.env.AUTH_URL ?? 'http://localhost:3000').origin);
  return { host, ostiary: start(host) };
}

const kept = globalThis as { ostiaryExample?: Parts };

/**
 * Opens with the first request: Next.js also loads routes while it builds, where there is no database. Once for the process:
 * each route has a copy of this module.
 */
export function parts(): Parts {
  kept.ostiaryExample ??= open();
  return kept.ostiaryExample;
}
