import { sqliteStorage } from '@ostiary/adapter-sqlite';
import { createOstiary, type Ostiary, type OstiaryOptions } from '@ostiary/core';
import type { Host } from './host.ts';

/** Settings of the example that differ between deployments. */
export interface Settings
  extends Pick<OstiaryOptions, 'authUrl' | 'baseUrl' | 'trustedProxies' | 'webhooks'> {
  readonly file: string;
  readonly sealingKey: string;
}

/**
 * Opens Ostiary on the host application's users, sessions and payments, in the same way for every framework.
 */
export function openOstiary(host: Host, { file, sealingKey, ...options }: Settings): Promise<Ostiary> {
  return createOstiary({
    ...options,
    storage: sqliteStorage({ file }),
    sealingKeys: [sealingKey],
    users: host.users,
    payments: host.payments,
    login: {
      authenticate: host.sessionOf,
      loginUrl: (returnTo) => `/login?${new URLSearchParams({ return_to: returnTo })}`,
    },
  });
}
