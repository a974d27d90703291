import type { Ostiary } from '@ostiary/core';
import { createHost, type Host } from '../host.ts';
import { openOstiary } from '../ostiary.ts';

/** Objects that exist once in this process, on `globalThis`. */
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
 * Opens Ostiary once per process, since each route has a copy of this module. Opens it at the first request,
 * because Next.js also loads routes during the build, when there is no database.
 */
export function parts(): Parts {
  kept.ostiaryExample ??= open();
  return kept.ostiaryExample;
}
