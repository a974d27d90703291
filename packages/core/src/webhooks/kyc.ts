import { z } from 'zod';
import type { Catalogue } from '../events.ts';
import type { Core } from '../options/context.ts';
import type { HostTransaction } from '../ports/events.ts';
import type { KycState } from '../ports/users.ts';
import { userIdFormat, userIdWords } from '../scopes/user-ids.ts';
import { inOneLine, inPlainWords, problemsOf } from '../text/plain-words.ts';
import { newEvent } from './outgoing.ts';
import {
  checkPublishOptions,
  type PublishedEvent,
  type PublishOptions,
  promised,
  publishIn,
  requirePartners,
  slugFormat,
  transactionOf,
} from './publish.ts';

/** New state of a user's identity check, to be published. */
export interface KycChange extends KycState {
  /** Id of the user. */
  readonly sub: string;
  /** Public id of the user. @defaultValue `sub` */
  readonly kid?: string | undefined;
  readonly previous: KycState;
  /** Time at which the user's identity check changed. @defaultValue now */
  readonly changedAt?: Date;
  /** Slugs of partners to notify in addition to those whose clients have the user's consent. */
  readonly partners?: readonly string[];
}

const state = { kycStatus: z.enum(['approved', 'pending', 'rejected']), kycTier: z.int().min(0).max(3) };

const change = z.strictObject({
  ...state,
  sub: z.string().regex(userIdFormat, userIdWords),
  kid: z.string().regex(userIdFormat, userIdWords).optional(),
  previous: z.strictObject(state),
  changedAt: z.date().optional(),
  partners: z.array(z.string().regex(slugFormat, 'has to be a slug')).optional(),
});

/**
 * Notifies partners of a change of a user's identity check, if its status or tier changed. These partners are
 * notified: enabled partners with an enabled client that has the user's unrevoked consent for `kyc` now, and
 * partners that the host names.
 * @throws TypeError if the change is malformed, a named partner does not exist (see `publish`), or the transaction is
 * not an open one of the storage's database
 */
export type KycChanged = (given: KycChange, options?: PublishOptions) => Promise<readonly PublishedEvent[]>;

/**
 * Creates the function {@link KycChanged}. Not `async`, because inside a synchronous transaction it must
 * throw; see `eventPublishing`.
 */
export function kycChanged(core: Core, catalogue: Catalogue): KycChanged {
  return (given, options = {}) => {
    checkPublishOptions(options);
    const result = change.safeParse(given, inPlainWords);
    if (!result.success)
      throw new TypeError(`kycChanged: ${inOneLine(problemsOf(result.error.issues), 'change')}`);
    const { sub, kid = sub, kycStatus, kycTier, previous, changedAt, partners = [] } = result.data;
    if (kycStatus === previous.kycStatus && kycTier === previous.kycTier) return Promise.resolve([]);
    const now = core.clock.now();
    const data = catalogue.check('kyc.updated', {
      kid,
      kycStatus,
      kycTier,
      previous,
      changedAt: (changedAt ?? new Date(now)).toISOString(),
    });
    const transaction: HostTransaction | null = transactionOf(core, options);
    const holders = { sub, scope: 'kyc' };
    const audience =
      transaction === null
        ? requirePartners(core, partners).then(() => core.storage.events.partnersHolding(holders))
        : transaction.partnersHolding(holders);
    return promised(audience, (holding) => {
      const slugs = [...new Set([...holding, ...partners])];
      const events = slugs.map((partner) =>
        newEvent(core, { partner, mode: 'live', type: 'kyc.updated', data, createdAt: now }),
      );
      return publishIn(core, transaction, events);
    });
  };
}
