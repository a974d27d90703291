import { iso } from '../clock.ts';
import type { Core } from '../context.ts';
import type { Catalogue } from '../events.ts';
import type { StoredAnswer } from '../ports/idempotency.ts';
import { claimOf, earlierAnswer, type RepeatableAnswer, type RepeatableRequest } from '../replays.ts';
import type { SandboxUser } from '../users/sandbox.ts';
import { type SandboxKyc, sameKyc, sandboxKycStore } from '../users/sandbox-kyc.ts';
import { newEvent } from '../webhooks/outgoing.ts';

/**
 * Changes the identity check of a sandbox user for a partner's test keys, and tells its test endpoints as a real change would:
 * where something did change. The change is kept first and told afterwards, for there is no transaction over both: where the database
 * fails in between, a change of the sandbox is not told.
 */
export function changeSandboxKyc(core: Core, catalogue: Catalogue) {
  const kept = sandboxKycStore(core);

  return async (
    request: RepeatableRequest & { readonly user: SandboxUser; readonly kyc: SandboxKyc },
  ): Promise<RepeatableAnswer> => {
    const { partner, now, user, kyc } = request;
    const { kid } = user;
    const previous = await kept.find(partner, user, now);
    const endsAt = await kept.save(partner, user, kyc, now);
    const data = catalogue.check('kyc.updated', { kid, ...kyc, previous, changedAt: iso(now) });
    const event = sameKyc(kyc, previous)
      ? null
      : newEvent(core, { partner, mode: 'test', type: 'kyc.updated', data, createdAt: now });
    const body = {
      kid,
      ...kyc,
      previous,
      eventId: event?.id ?? null,
      endsAt: endsAt === null ? null : iso(endsAt),
    };
    const answer: StoredAnswer = { status: 200, body: JSON.stringify(body) };
    const claim = claimOf(request);
    const publication = await core.storage.events.publish(event === null ? [] : [event], {
      idempotency: claim && { ...claim, answer },
      now,
    });
    if (publication.outcome !== 'published') return earlierAnswer(core, request, publication);
    core.wake('deliveries');
    return { ...answer, replayed: false };
  };
}
