import type { Catalogue } from '../events.ts';
import {
  claimOf,
  earlierAnswer,
  type RepeatableAnswer,
  type RepeatableRequest,
} from '../idempotency/repeatable-request.ts';
import type { Core } from '../options/context.ts';
import type { StoredAnswer } from '../ports/idempotency.ts';
import type { KycStatus } from '../ports/users.ts';
import { iso } from '../time/clock.ts';
import type { SandboxUser } from '../users/sandbox.ts';
import { sameKyc, sandboxKycStore, sandboxTierOf } from '../users/sandbox-kyc.ts';
import { newEvent } from '../webhooks/outgoing.ts';

/**
 * Creates the function that changes a sandbox user's identity check for a partner's test keys. If something
 * changed, it notifies the partner's test endpoints as a real change would. The change is stored first and
 * published afterwards, because no transaction covers both. If the database fails in between, no event is
 * published.
 */
export function changeSandboxKyc(core: Core, catalogue: Catalogue) {
  const kept = sandboxKycStore(core);

  /**
   * Changes the identity check of a sandbox user. The response body names the published event; `null` if
   * nothing changed.
   */
  return async (
    request: RepeatableRequest & { readonly user: SandboxUser; readonly kycStatus: KycStatus },
  ): Promise<RepeatableAnswer> => {
    const { partner, now, user, kycStatus } = request;
    const kyc = { kycStatus, kycTier: sandboxTierOf(kycStatus) };
    const previous = await kept.find(partner, user, now);
    await kept.save(partner, user, kyc, now);
    const data = catalogue.check('kyc.updated', { kid: user.kid, ...kyc, previous, changedAt: iso(now) });
    const event = newEvent(core, { partner, mode: 'test', type: 'kyc.updated', data, createdAt: now });
    const published = sameKyc(kyc, previous) ? [] : [event];
    const answer: StoredAnswer = {
      status: 200,
      body: JSON.stringify({ eventId: published[0]?.id ?? null }),
    };
    const claim = claimOf(request);
    const publication = await core.storage.events.publish(published, {
      idempotency: claim && { ...claim, answer },
      now,
    });
    if (publication.outcome !== 'published') return earlierAnswer(core, request, publication);
    core.notifyWorkers('deliveries');
    return { ...answer, replayed: false };
  };
}
