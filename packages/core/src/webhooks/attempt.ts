import type { SignedDelivery } from '@ostiary/webhook-verifier';
import { ownerName } from '../limits/shares.ts';
import type { Clock } from '../ports/clock.ts';
import type { ClaimedDelivery, DeliveryResult } from '../ports/deliveries.ts';
import type { Mode } from '../ports/partners.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import type { WebhookClient } from './http-client.ts';
import { type SignatureOptions, signedAttempt } from './signing.ts';
import { fullTargetMs } from './target-limits.ts';

export interface AttemptOptions extends SignatureOptions {
  readonly client: WebhookClient;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Waits after the first failed attempt of a delivery, the second and so on, in milliseconds. */
  readonly delaysMs: readonly number[];
  /** Decrypts the secret of a delivery's endpoint. */
  readonly secretOf: (delivery: ClaimedDelivery) => string;
}

export interface AttemptEnd {
  readonly result: DeliveryResult;
  /** True if the endpoint responded with any status. */
  readonly answered: boolean;
}

/**
 * Wait before the next attempt after a failure of this service (a delivery that cannot be signed, or an
 * attempt that throws), in milliseconds. Such a failure does not count as an attempt.
 */
export const faultPauseMs = 60_000;

/** Maximum number of bytes of a webhook response that are stored in test mode. */
const testAnswerBytes = 1_024;

/**
 * Returns the part of a webhook response that is stored: in live mode all that the client kept (16 KiB at
 * most), in test mode the first KiB.
 */
function keptOf(response: string | null, mode: Mode): string | null {
  if (response === null || mode === 'live') return response;
  const bytes = Buffer.from(response);
  if (bytes.length <= testAnswerBytes) return response;
  // With `stream`, the decoder leaves out an incomplete character at the end.
  return new TextDecoder().decode(bytes.subarray(0, testAnswerBytes), { stream: true });
}

/** Returns the result for a claimed delivery that is handed back without an attempt. */
export function handedBack({ id, claimId }: ClaimedDelivery, dueAt: number): DeliveryResult {
  return { id, claimId, attempt: null, isCutOff: false, next: { status: 'pending', dueAt } };
}

/**
 * Makes one attempt to deliver a webhook: signs the event, sends it, and returns the result with the time of
 * the next attempt. Hands the delivery back if it cannot be signed, or if too many requests to the target's
 * address are running.
 */
export async function attempt(
  { client, clock, logger, prefix, standardHeaders, delaysMs, secretOf }: AttemptOptions,
  delivery: ClaimedDelivery,
): Promise<AttemptEnd> {
  const { id, claimId, attempt: number } = delivery;
  const at = clock.now();
  let secret: string;
  let signed: SignedDelivery;
  try {
    secret = secretOf(delivery);
    signed = await signedAttempt(secret, { ...delivery, at, prefix, standardHeaders });
  } catch (error) {
    logger.error(
      { err: error, delivery: id, endpoint: delivery.endpointId },
      'a webhook delivery cannot be signed',
    );
    return { result: handedBack(delivery, at + faultPauseMs), answered: false };
  }
  const { url, endpointId, partner, mode } = delivery;
  const endpoint = { id: endpointId, partner, mode, secret };
  const answer = await client.post({ url, owner: ownerName(delivery), endpoint, ...signed });
  if (answer === null) return { result: handedBack(delivery, clock.now() + fullTargetMs), answered: false };

  const { ok, httpStatus, error, response } = answer;
  const isCutOff = error === 'aborted';
  const next = ok
    ? ({ status: 'delivered' } as const)
    : nextAfter(delaysMs, delivery.failures, isCutOff, clock.now());
  if (next.status === 'dropped') {
    logger.warn(
      { delivery: id, event: delivery.eventId, endpoint: delivery.endpointId, attempts: number },
      'a webhook delivery was dropped after its last attempt',
    );
  }
  return {
    result: {
      id,
      claimId,
      attempt: {
        ...{ number, at, durationMs: answer.durationMs, httpStatus, error },
        response: keptOf(response, delivery.mode),
      },
      isCutOff,
      next,
    },
    answered: httpStatus !== null,
  };
}

/**
 * Returns the status of a delivery after an attempt without success, and the time of the next attempt if any
 * (specification, "Webhook delivery attempts"). An attempt that this worker cut off says nothing about the
 * endpoint: the next one is due at once and does not use up the schedule, so that a stop costs no attempt.
 * @param failures - number of attempts that failed before this one
 */
function nextAfter(
  delaysMs: readonly number[],
  failures: number,
  isCutOff: boolean,
  endedAt: number,
): DeliveryResult['next'] {
  if (isCutOff) return { status: 'pending', dueAt: endedAt };
  const delay = delaysMs[failures];
  return delay === undefined ? { status: 'dropped' } : { status: 'pending', dueAt: endedAt + delay };
}

/** Ports of URLs that name none, by protocol. */
const defaultPorts: Readonly<Record<string, number>> = { 'https:': 443, 'http:': 80 };

/** Returns the server of a webhook endpoint as attributes of a span; none for an inbox of the service. */
function serverOf(url: string) {
  const { hostname, port, protocol } = new URL(url);
  if (hostname === '') return {};
  return { 'server.address': hostname, 'server.port': port === '' ? defaultPorts[protocol] : Number(port) };
}

/** Returns the result of a webhook attempt as the label of a metric. */
function outcomeOf({ attempt, next }: DeliveryResult): string {
  if (attempt === null) return 'handed_back';
  return next.status === 'pending' ? 'failed' : next.status;
}

/**
 * Makes one webhook attempt in a telemetry span, and measures its lag and duration. The span has the
 * attributes of OpenTelemetry's semantic conventions for HTTP clients, except for the URL, which may contain
 * a secret of the receiver, and attributes of Ostiary.
 */
export function measuredAttempt(
  options: AttemptOptions,
  delivery: ClaimedDelivery,
  telemetry: Telemetry,
): Promise<AttemptEnd> {
  const labels = { 'ostiary.event.type': delivery.eventType, 'ostiary.mode': delivery.mode };
  telemetry.record(
    'ostiary.webhook.attempt.lag',
    Math.max(0, options.clock.now() - delivery.dueAt) / 1000,
    labels,
  );
  return telemetry.measure(
    {
      metric: 'ostiary.webhook.attempt.duration',
      span: 'POST webhook',
      origin: { traceparent: delivery.traceparent, sends: true },
      labels,
      details: {
        'http.request.method': 'POST',
        ...serverOf(delivery.url),
        'ostiary.partner': delivery.partner,
        'ostiary.event.id': delivery.eventId,
        'ostiary.endpoint.id': delivery.endpointId,
        'ostiary.delivery.id': delivery.id,
        'ostiary.delivery.attempt': delivery.attempt,
      },
    },
    async ({ label, fail }) => {
      const end = await attempt(options, delivery);
      const { attempt: made } = end.result;
      label({ 'ostiary.delivery.outcome': outcomeOf(end.result) });
      if (made?.httpStatus != null) label({ 'http.response.status_code': made.httpStatus });
      // By convention, the type of an error response is its status.
      if (made?.error != null) fail(made.error === 'status' ? String(made.httpStatus) : made.error);
      return end;
    },
  );
}
