import type { Core } from '../options/context.ts';
import { requireUserId } from '../scopes/user-ids.ts';
import { logoUrl } from './client-logo.ts';

/** An app that a user gave access to. */
export interface ConnectedApp {
  readonly clientId: string;
  /** As users know it. */
  readonly clientName: string;
  /** On `authUrl`; `null`: it has none. */
  readonly logoUrl: string | null;
  readonly scopes: readonly string[];
  readonly grantedAt: Date;
  /** Time at which scopes were last added; equal to `grantedAt` if none were. */
  readonly updatedAt: Date;
  /**
   * Time of the last sign-in with this app. It may be up to an hour earlier; `null`: none since times are
   * recorded.
   */
  readonly lastUsedAt: Date | null;
}

/** Connected apps, for a page of your own; Ostiary's is at `{authUrl}/account/apps`. */
export interface ConnectedApps {
  /**
   * The apps that a user gave access to, the latest change first.
   * @example
   * ```ts
   * const apps = await ostiary.consents.list(user.id);
   * ```
   */
  list(sub: string): Promise<readonly ConnectedApp[]>;
  /**
   * Ends the access of one app: its consent, its codes and its tokens for this user, at once and in every process. Whether it had any.
   * Check that it is the user who asks, and that the form is yours (CSRF).
   */
  revoke(sub: string, clientId: string): Promise<boolean>;
}

export function connectedApps(core: Core): ConnectedApps {
  const { storage, clock, options } = core;
  return {
    async list(sub) {
      requireUserId(sub);
      const consents = await storage.consents.list(sub);
      return Promise.all(
        consents.map(async ({ clientId, scopes, grantedAt, updatedAt, usedAt }) => {
          const client = await storage.clients.find(clientId);
          return {
            clientId,
            clientName: client?.name ?? clientId,
            logoUrl: client && logoUrl(core, client),
            scopes: scopes.filter(options.scopes.has),
            grantedAt: new Date(grantedAt),
            updatedAt: new Date(updatedAt),
            lastUsedAt: usedAt === null ? null : new Date(usedAt),
          };
        }),
      );
    },

    async revoke(sub, clientId) {
      requireUserId(sub);
      return await storage.consents.revoke(sub, clientId, clock.now());
    },
  };
}
