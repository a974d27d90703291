import type { Core } from '../options/context.ts';
import { requireUserId } from '../scopes/user-ids.ts';
import { logoUrl } from './client-logo.ts';

/** An app to which a user gave access. */
export interface ConnectedApp {
  readonly clientId: string;
  /** Name of the app, as users see it. */
  readonly clientName: string;
  /** URL of the app's logo on `authUrl`; `null` if the app has none. */
  readonly logoUrl: string | null;
  readonly scopes: readonly string[];
  readonly grantedAt: Date;
  /** Time at which the user last approved scopes for the app; equal to `grantedAt` after one approval. */
  readonly updatedAt: Date;
  /**
   * Time of the user's last sign-in with this app; `null` if none was recorded. May be up to an hour too
   * early.
   */
  readonly lastUsedAt: Date | null;
}

/**
 * Lists, revokes and restores the apps to which users gave access, for a page of your own. Ostiary's own page
 * is at `{authUrl}/account/apps`.
 */
export interface ConnectedApps {
  /**
   * Lists the apps that a user gave access to, the latest approval first.
   * @example
   * ```ts
   * const apps = await ostiary.consents.list(user.id);
   * ```
   */
  list(sub: string): Promise<readonly ConnectedApp[]>;
  /**
   * Ends the access of one app: revokes its consent, codes and tokens for this user, at once and in every
   * process. Returns whether the app had access. Before the call, check that the signed-in user requests
   * this, and that the form is yours (CSRF).
   */
  revoke(sub: string, clientId: string): Promise<boolean>;
  /**
   * Restores the consent of an app that the user revoked less than ten minutes ago. The app's tokens stay
   * revoked: the user signs in with the app again, without being asked for consent. Returns whether there was
   * such a consent. Check the form as before `revoke`.
   */
  restore(sub: string, clientId: string): Promise<boolean>;
}

/** Time for which the removal of an app can be undone, in milliseconds. */
const undoMs = 10 * 60_000;

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

    async restore(sub, clientId) {
      requireUserId(sub);
      return await storage.consents.restore({ sub, clientId, revokedSince: clock.now() - undoMs });
    },
  };
}
