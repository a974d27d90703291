import { z } from 'zod';
import type { Act } from '../audit/acts.ts';
import type { Core } from '../options/context.ts';
import { userIdFormat, userIdWords } from '../scopes/user-ids.ts';
import { isReservedName, reservedWords } from '../text/reserved-names.ts';
import { checked } from './checked.ts';

/** A consent that a user gave in another system. */
export interface ImportedConsent<Name extends string = string> {
  /** The user as your server knows them. */
  readonly sub: string;
  readonly clientId: string;
  /** 1 to 100 of `clients.scopes`. */
  readonly scopes: readonly Name[];
  /** @defaultValue now */
  readonly grantedAt?: Date;
}

/** Consents of users. Only users give them; what they gave elsewhere can be brought along. */
export interface ConsentAdministration<Name extends string = string> {
  /**
   * Stores up to 1,000 consents, in one transaction; answers how many. Left out are those of clients that are unknown or disabled, and those
   * for which there is or was a consent of the same user and client: what a user revoked does not come back.
   * @throws TypeError when one of them is wrong; nothing is stored then
   */
  import(consents: readonly ImportedConsent<Name>[]): Promise<{ readonly imported: number }>;
}

export function consentAdministration({ storage, clock, options }: Core, act: Act): ConsentAdministration {
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
    async import(consents) {
      const now = clock.now();
      const given = checked(batch, consents, 'consents').map(({ grantedAt, ...one }) => ({
        ...one,
        // Not from the future, where it would be first in lists for long.
        grantedAt: Math.min(grantedAt?.getTime() ?? now, now),
      }));
      const audit = act('consent.import', 'consents', { given: given.length });
      return { imported: await storage.consents.adopt(given, audit) };
    },
  };
}
