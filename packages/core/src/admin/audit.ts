import { z } from 'zod';
import type { Act } from '../audit/acts.ts';
import type { Core } from '../options/context.ts';
import type { StoredAct } from '../ports/audit.ts';
import type { JsonObject } from '../ports/interactions.ts';
import { countedAtMost, writePlace } from '../text/list-pages.ts';
import { isUnstorable } from '../text/storable.ts';
import { type AuditVerification, verifyAudit } from './audit-chain.ts';
import { checked, type Shown, shown } from './checked.ts';
import {
  listPage,
  type PageRequest,
  placeAfter,
  readTimedPage,
  type TimedRequest,
  type TwoWayPage,
} from './list-page.ts';

/**
 * An entry of the audit log: an administrative act. Its time is ISO 8601. Its actor is the name given to
 * `admin.as`, otherwise `host`. In the live portal it is `portal link of`, with the actor who made the link.
 */
export type AuditEntry = Shown<StoredAct>;

/** Filter for a list of the audit log. An entry must match every member that is given. */
export interface AuditSearch {
  /** Object that the listed acts changed, such as `client:kafe`. */
  readonly target?: string;
  /** Name of the person or program whose acts are listed. */
  readonly actor?: string;
  /** Kind of the acts to list, such as `client.disable`. */
  readonly action?: string;
  /** Earliest time of the acts to list, included. */
  readonly from?: Date;
  /** Latest time of the acts to list, excluded. */
  readonly to?: Date;
  /** Kinds of audit log entries to leave out, such as `staff.sign_in`, at most 100 kinds. */
  readonly except?: readonly string[];
}

/**
 * Reads, extends and verifies the audit log. Entries are kept for ever. The entry of a change through
 * `ostiary.admin` commits together with the change; entries of `purge` and `reseal`, which need many
 * transactions, are stored at their end.
 */
export interface AuditAdministration {
  /**
   * Lists entries of the audit log, newest first. Pass `next` as `after` to get the following page; it is
   * `null` on the last page.
   * @throws TypeError if an argument is invalid
   */
  list(
    page?: PageRequest & AuditSearch,
  ): Promise<{ readonly entries: readonly AuditEntry[]; readonly next: string | null }>;
  /**
   * Lists entries of the audit log by time, newest or oldest first.
   * @throws TypeError if an argument is invalid
   */
  sorted(request?: TimedRequest & AuditSearch): Promise<TwoWayPage<AuditEntry>>;
  /**
   * Counts the audit log entries that match a search. The count stops at 10,000, which means 10,000 or more.
   */
  count(search?: AuditSearch): Promise<number>;
  /**
   * Adds an act of your own to the audit log, such as the blocking of a user or the restore of a backup.
   * Needs no right, so that you can record acts of operators who may change nothing, such as a sign-in.
   * @throws TypeError if an argument is invalid
   */
  record(act: {
    readonly action: string;
    readonly target: string;
    readonly details?: JsonObject;
  }): Promise<void>;
  /**
   * Reads the whole log and verifies its chain: that no entry was changed, removed, added or moved.
   * @param options - `head`: the `head` of an earlier result, kept elsewhere. Without it the verification cannot detect
   * that someone who can write to the whole database removed the latest entries.
   * @throws TypeError if the head is not a SHA-256 in hexadecimal
   */
  verify(options?: { readonly head?: string }): Promise<AuditVerification>;
}

const name = z.string().regex(/^[a-z][a-z0-9_]*(?:\.[a-z0-9_]+)+$/, 'has to be like user.block');
const newAct = z.strictObject({
  action: name.max(100),
  // A text that is read back as another one would break the chain.
  target: z
    .string()
    .min(1)
    .max(300)
    .refine((text) => !isUnstorable(text), 'must not hold U+0000 or half of a surrogate pair'),
  details: z.record(z.string(), z.json()).optional(),
});

const search = z.strictObject({
  target: z.string().max(300).optional(),
  actor: z.string().max(300).optional(),
  action: z.string().max(300).optional(),
  from: z.date().optional(),
  to: z.date().optional(),
  except: z.array(z.string().max(300)).max(100).optional(),
});

const chainValue = z
  .string()
  .regex(/^[0-9a-f]{64}$/, 'has to be a SHA-256 as 64 hexadecimal digits, as an earlier verification gave it')
  .transform((text) => Buffer.from(text, 'hex'));

/**
 * Checks a search of the audit log, some of whose members may be `undefined`. @throws TypeError if the search
 * is invalid
 */
function filterOf(given: { readonly [Name in keyof AuditSearch]?: AuditSearch[Name] | undefined }) {
  const { target = null, actor = null, action = null, except = [], from, to } = checked(search, given);
  // The port's latest time is included.
  const until = to === undefined ? null : to.getTime() - 1;
  return { target, actor, action, except, from: from?.getTime() ?? null, until };
}

export function auditAdministration({ storage }: Core, act: Act): AuditAdministration {
  return {
    async list({ after, limit, ...given } = {}) {
      const filter = filterOf(given);
      const request = { ...(after !== undefined && { after }), ...(limit !== undefined && { limit }) };
      const position = placeAfter(request);
      const { page, next } = await listPage(request, {
        read: (rows) => storage.audit.list({ ...filter, after: position, limit: rows }),
        shown,
        placeOf: ({ at, id }) => writePlace({ time: at, id }),
      });
      return { entries: page, next };
    },
    async sorted({ target, actor, action, except, from, to, ...request } = {}) {
      const filter = filterOf({ target, actor, action, except, from, to });
      return readTimedPage(request, {
        read: (page) => storage.audit.list({ ...filter, ...page }),
        shown,
        placeOf: ({ at, id }) => ({ time: at, id }),
      });
    },
    count: async (given = {}) => storage.audit.count(filterOf(given), countedAtMost),
    async record(given) {
      const { action, target, details } = checked(newAct, given);
      await storage.audit.append(act(action, target, details));
    },
    async verify({ head } = {}) {
      return verifyAudit(storage.audit, head === undefined ? null : checked(chainValue, head));
    },
  };
}
