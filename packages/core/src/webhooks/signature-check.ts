import { PartnerError } from '../errors.ts';
import type { Catalogue } from '../events.ts';
import { ownerName } from '../limits/shares.ts';
import type { Core } from '../options/context.ts';
import type { Owner } from '../ports/partners.ts';
import { disabledEndpoint, findEndpoint } from './endpoints.ts';
import type { AttemptAnswer, WebhookClient } from './http-client.ts';
import { newEvent } from './outgoing.ts';
import { signedAttempt } from './signing.ts';
import { fullTargetMs } from './target-limits.ts';

/** Conclusion about an endpoint's signature check, from its responses to a correct and a wrong signature. */
export type SignatureVerdict =
  // The endpoint accepted the correct signature and refused the wrong one with a 4xx status.
  | 'right'
  // The endpoint accepted the wrong signature, whatever it did with the correct one.
  | 'takes_forged'
  // The endpoint accepted the correct signature. It did not accept the wrong one, but did not refuse it with
  // a 4xx status either.
  | 'fails_at_forged'
  // The endpoint responded to the correct signature without accepting it.
  | 'refuses_genuine'
  // There was no response to the correct signature.
  | 'no_answer';

function verdictOf(genuine: AttemptAnswer, forged: AttemptAnswer): SignatureVerdict {
  if (forged.ok) return 'takes_forged';
  if (genuine.httpStatus === null) return 'no_answer';
  if (!genuine.ok) return 'refuses_genuine';
  const status = forged.httpStatus ?? 0;
  return status >= 400 && status < 500 ? 'right' : 'fails_at_forged';
}

type CheckedAnswer = Omit<AttemptAnswer, 'ok'>;

/** Responses of an endpoint to a correct and a wrong signature, and the conclusion. */
export type SignatureCheck = {
  readonly verdict: SignatureVerdict;
  readonly genuine: CheckedAnswer;
  readonly forged: CheckedAnswer;
};

function shown({ httpStatus, error, response, durationMs }: AttemptAnswer): CheckedAnswer {
  return { httpStatus, error, response, durationMs };
}

/**
 * Creates the error for a check that sent nothing, because too many requests to the endpoint's address are
 * running.
 */
function fullTarget(): PartnerError {
  return new PartnerError('rate_limit_exceeded', {
    description: 'Too many deliveries to the server of this endpoint are under way.',
    headers: { 'Retry-After': String(fullTargetMs / 1000) },
  });
}

/** Dependencies of the signature check besides the core. */
interface CheckParts {
  readonly catalogue: Catalogue;
  readonly client: WebhookClient;
  readonly secretOf: (endpointId: string, sealed: string) => string;
}

/**
 * Creates the check whether an endpoint verifies signatures. It sends two events to a test endpoint at once,
 * one signed with its secret and one with an unknown secret, and interprets the responses. The events are
 * neither added to the partner's events nor sent again.
 */
export function signatureCheck(core: Core, { catalogue, client, secretOf }: CheckParts) {
  const { random, clock, options } = core;
  const { prefix, webhooks } = options;
  const { standardHeaders } = webhooks;

  /**
   * Checks whether one endpoint verifies signatures. @throws PartnerError `not_found`; `invalid_request` for
   * a disabled endpoint; `rate_limit_exceeded` if its server is busy with deliveries
   */
  return async (owner: Owner, endpointId: string): Promise<SignatureCheck> => {
    const endpoint = await findEndpoint(core, owner, endpointId);
    if (!endpoint.enabled) throw disabledEndpoint();
    const { url } = endpoint;
    const type = 'webhook.test';

    const own = secretOf(endpoint.id, endpoint.sealedSecret);

    async function send(secret: string): Promise<AttemptAnswer> {
      const at = clock.now();
      // Each event has a new id, because otherwise a receiver that skips duplicates would ignore one.
      const event = newEvent(core, { ...owner, type, data: catalogue.example(type), createdAt: at });
      const facts = { ...event, eventId: event.id, eventType: type, attempt: 1, at, prefix, standardHeaders };
      const signed = await signedAttempt(secret, facts);
      const target = { id: endpoint.id, ...owner, secret: own };
      const answer = await client.post({ url, owner: ownerName(owner), endpoint: target, ...signed });
      if (answer === null) throw fullTarget();
      return answer;
    }

    const [genuine, forged] = await Promise.all([send(own), send(random.bytes(32).toString('hex'))]);
    return { verdict: verdictOf(genuine, forged), genuine: shown(genuine), forged: shown(forged) };
  };
}
