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

/** Time for which answers are kept, in milliseconds. */
const idempotencyLifetimeMs = 24 * 3600_000;

/** Pause before a request is tried again while another process handles one with its key, in milliseconds. */
const retryPauseMs = 100;

function malformed(message: string): PartnerError {
  return new PartnerError('invalid_request', { details: [{ path: 'Idempotency-Key', message }] });
}

/**
 * Reads the key from the values of the header `Idempotency-Key`. A quoted value (a structured field string) and a bare one are
 * the same key.
 * @returns `null` if the header is missing
 * @throws PartnerError `invalid_request`
 */
function keyOf(values: readonly string[]): string | null {
  const [value] = values;
  if (value === undefined) return null;
  if (values.length > 1) throw malformed('is given twice');
  const key = /^"(.*)"$/.exec(value)?.[1] ?? value;
  if (!/^[\x20-\x7E]{1,255}$/.test(key)) throw malformed('takes 1 to 255 printable ASCII characters');
  return key;
}

/** Parts of a request that distinguish a repetition from another request with the same key. */
export interface Fingerprinted {
  /** Method and path. */
  readonly target: string;
  readonly bytes: Uint8Array;
  readonly now: number;
}

/** The step that lets requests with an `Idempotency-Key` take effect once, over HTTP and from a console. */
export type Idempotency = ReturnType<typeof createIdempotency>;

export function createIdempotency(core: Core) {
  // Keyed, so that a stored fingerprint reveals nothing of the payload; the current sealing key comes first. As key objects: with plain
  // bytes Node spends several times as long on a digest.
  const macKeys = core.sealer.derive('idempotency fingerprints').map((key) => createSecretKey(key));
  const turns = createTurns();

  return {
    /**
     * Reads the `Idempotency-Key` of a request, and makes its fingerprint.
     * @param values - values of the header as they came
     * @returns `null` if there is none
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
     * Handles a request. A repetition gets the first answer again, and has no effect.
     * @throws PartnerError `idempotency_conflict`
     * @throws RequestInProgressError after five seconds of waiting for another request with the key
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
            // A request of another process is under way, for which the storage waited about a second.
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
