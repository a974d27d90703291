import { createHmac, createSecretKey } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { PartnerError } from '../../errors.ts';
import {
  findReplay,
  type IdempotencyRequest,
  RequestInProgressError,
} from '../../idempotency/repeatable-request.ts';
import type { Core } from '../../options/context.ts';
import type { PartnerAnswer, PartnerOperation, PartnerRequest } from '../request.ts';
import { createTurns } from './turns.ts';

/** Time for which responses are stored for repeated requests, in milliseconds. */
const idempotencyLifetimeMs = 24 * 3600_000;

/**
 * Pause before the next attempt while another process handles a request with the same `Idempotency-Key`, in
 * milliseconds.
 */
const retryPauseMs = 100;

function malformed(message: string): PartnerError {
  return new PartnerError('invalid_request', { details: [{ path: 'Idempotency-Key', message }] });
}

/**
 * Returns the key from the values of the header `Idempotency-Key`. A quoted value (a structured field string)
 * and the same value without quotes are the same key.
 * @returns the key; `null` if the header is missing
 * @throws PartnerError `invalid_request` for several or malformed values
 */
function keyOf(values: readonly string[]): string | null {
  const [value] = values;
  if (value === undefined) return null;
  if (values.length > 1) throw malformed('is given twice');
  const key = /^"(.*)"$/.exec(value)?.[1] ?? value;
  if (!/^[\x20-\x7E]{1,255}$/.test(key)) throw malformed('takes 1 to 255 printable ASCII characters');
  return key;
}

/**
 * Parts of a request that show whether it repeats an earlier request, or uses the same `Idempotency-Key` for
 * something else.
 */
export interface Fingerprinted {
  /** HTTP method and path of the request. */
  readonly target: string;
  readonly bytes: Uint8Array;
  readonly now: number;
}

/**
 * Pipeline step that makes requests with an `Idempotency-Key` take effect only once, over HTTP and from a
 * console.
 */
export function createIdempotency(core: Core) {
  // Fingerprints use a keyed hash, so that a stored one reveals nothing of the payload; the current sealing
  // key comes first. Key objects, because with plain bytes Node takes several times as long for a digest.
  const macKeys = core.sealer.derive('idempotency fingerprints').map((key) => createSecretKey(key));
  const turns = createTurns();

  return {
    /**
     * Reads the `Idempotency-Key` of a request and computes the request's fingerprint.
     * @param values - unparsed values of the header
     * @returns the key with its fingerprint; `null` if the header is missing
     * @throws PartnerError `invalid_request` for a malformed key
     */
    read(values: readonly string[], { target, bytes, now }: Fingerprinted): IdempotencyRequest | null {
      const key = keyOf(values);
      if (key === null) return null;
      const [fingerprint, ...previous] = macKeys.map((macKey) =>
        createHmac('sha256', macKey).update(`${target}\n`).update(bytes).digest(),
      );
      if (fingerprint === undefined) throw new TypeError('a fingerprint needs a key');
      return { key, fingerprint, previous, endsAt: now + idempotencyLifetimeMs };
    },

    /**
     * Handles a request with its `Idempotency-Key`. A repeated request gets the first response again and has
     * no effect.
     * @throws PartnerError `idempotency_conflict` if the key was used with another payload
     * @throws RequestInProgressError after up to five seconds of waiting for another request with the key
     */
    async answer(
      operation: Pick<PartnerOperation, 'handle'>,
      request: PartnerRequest,
    ): Promise<PartnerAnswer> {
      const { partner, mode, idempotency } = request;
      if (idempotency === null) return await operation.handle(request);
      const turn = await turns.take(`${partner} ${mode} ${idempotency.key}`);
      try {
        for (;;) {
          const earlier = await findReplay(core, request);
          if (earlier !== null) return earlier;
          try {
            return await operation.handle(request);
          } catch (error) {
            // Another process handles a request with this key; the storage has waited for it for about a
            // second.
            if (!(error instanceof RequestInProgressError) || turn.isTooLate()) throw error;
          }
          await pause(retryPauseMs);
        }
      } finally {
        turn.end();
      }
    },
  };
}
