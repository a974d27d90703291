import { PartnerError } from '../errors.ts';
import { events as builtInTypes, type Catalogue, EventDataError } from '../events.ts';
import {
  claimOf,
  earlierAnswer,
  type RepeatableAnswer,
  type RepeatableRequest,
} from '../idempotency/repeatable-request.ts';
import type { Core } from '../options/context.ts';
import type { StoredAnswer } from '../ports/idempotency.ts';
import { newEvent } from './outgoing.ts';

/**
 * Creates the operation that publishes an event of any type to a partner's test endpoints. If `data` is
 * `undefined`, the catalogue's example is sent.
 * @throws PartnerError `invalid_request` if `data` does not fit the type, `idempotency_conflict` if the
 * `Idempotency-Key` was used with another payload
 */
export function triggerEvent(core: Core, catalogue: Catalogue) {
  return async (
    request: RepeatableRequest & { readonly type: string; readonly data: unknown },
  ): Promise<RepeatableAnswer> => {
    const { partner, now, type, data } = request;
    const event = newEvent(core, {
      partner,
      mode: 'test',
      type,
      data: data === undefined ? catalogue.example(type) : checkedData(catalogue, type, data),
      createdAt: now,
    });
    const answer: StoredAnswer = { status: 201, body: event.body };
    const claim = claimOf(request);
    const publication = await core.storage.events.publish([event], {
      idempotency: claim && { ...claim, answer },
      now,
    });
    if (publication.outcome !== 'published') return earlierAnswer(core, request, publication);
    core.notifyWorkers('deliveries');
    return { ...answer, replayed: false };
  };
}

function checkedData(catalogue: Catalogue, type: string, data: unknown) {
  try {
    return catalogue.check(type, data);
  } catch (error) {
    if (!(error instanceof EventDataError)) throw error;
    // For host types do not show the message of the host's schema library, which is meant for the host.
    const message = Object.hasOwn(builtInTypes, type) ? error.problem : `is not what ${type} carries there`;
    throw new PartnerError('invalid_request', { details: [{ path: error.path, message }] });
  }
}
