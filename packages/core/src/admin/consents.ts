import { z } from 'zod';
import type { Act } from '../audit/acts.ts';
import type { Core } from '../options/context.ts';
import type { OperatorRight } from '../ports/operators.ts';
import { requireUserId, userIdFormat, userIdWords } from '../scopes/user-ids.ts';
import { isReservedName, reservedWords } from '../text/reserved-names.ts';
import { iso } from '../time/clock.ts';
import { checked } from './checked.ts';
import { requireRight } from './rights.ts';

/** A consent that a user gave in another system. */
export interface ImportedConsent<Name extends string = string> {
  /** Id of the user, as `login` and `users` of the host application use it. */
  readonly sub: string;
  readonly clientId: string;
  /** Scopes that the user approved: 1 to 100 of the names in `clients.scopes`. */
  readonly scopes: readonly Name[];
  /** Time at which the user gave the consent. A time in the future counts as now. @defaultValue now */
  readonly grantedAt?: Date;
}

/** Access that a user gave to an app. Times are ISO 8601. */
export interface ConsentOfUser {
  readonly clientId: string;
  /** Name of the app, as users see it. */
  readonly clientName: string;
  readonly scopes: readonly string[];
  readonly grantedAt: string;
  /**
   * Time of the user's last sign-in with this app; `null` if none was recorded. May be up to an hour too
   * early.
   */
  readonly lastUsedAt: string | null;
}

/**
 * Lists consents of users, and imports consents that users gave in another system. Only users can give new
 * consents.
 */
export interface ConsentAdministration<Name extends string = string> {
  /**
   * Lists the apps that a user gave access to, the latest change first. Needs the right `users`.
   * @throws TypeError if the id is invalid
   */
  list(sub: string): Promise<readonly ConsentOfUser[]>;
  /**
   * Imports up to 1,000 consents in one transaction and returns the number of stored ones. Skips consents for
   * unknown or disabled clients, and for clients of disabled partners. Also skips a consent if the same user
   * and client have or had one, so that a revoked consent does not come back.
   * @throws TypeError if one of them is invalid; nothing is stored then
   */
  import(consents: readonly ImportedConsent<Name>[]): Promise<{ readonly imported: number }>;
}

/** @param may - rights of the person who reads the consents */
export function consentAdministration(
  { storage, clock, options }: Core,
  act: Act,
  may: readonly OperatorRight[],
): ConsentAdministration {
  const consent = z.strictObject({
    sub: z.string().regex(userIdFormat, userIdWords),
    clientId: z
      .string()
      .min(1)
      .max(255)
      .refine((id) => !isReservedName(id), reservedWords),
    scopes: z
      .array(z.enum(options.scopes.names))
      .min(1)
      .max(100)
      .transform((names) => [...new Set(names)]),
    grantedAt: z.date().optional(),
  });
  const batch = z.array(consent).min(1).max(1000);

  return {
    async list(sub) {
      requireRight(may, 'users');
      requireUserId(sub);
      const consents = await storage.consents.list(sub);
      return Promise.all(
        consents.map(async ({ clientId, scopes, grantedAt, usedAt }) => ({
          clientId,
          clientName: (await storage.clients.find(clientId))?.name ?? clientId,
          scopes: scopes.filter(options.scopes.has),
          grantedAt: iso(grantedAt),
          lastUsedAt: usedAt === null ? null : iso(usedAt),
        })),
      );
    },
    async import(consents) {
      const now = clock.now();
      const given = checked(batch, consents, 'consents').map(({ grantedAt, ...one }) => ({
        ...one,
        // A time in the future would keep the consent first in lists for long.
        grantedAt: Math.min(grantedAt?.getTime() ?? now, now),
      }));
      const audit = act('consent.import', 'consents', { given: given.length });
      return { imported: await storage.consents.adopt(given, audit) };
    },
  };
}
