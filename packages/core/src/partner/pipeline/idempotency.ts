import { createHmac, createSecretKey } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { PartnerError } from '../../errors.ts';
import { findReplay, type IdempotencyRequest } from '../../idempotency/repeatable-request.ts';
import type { Core } from '../../options/context.ts';
import type { StoredRequest } from '../../ports/idempotency.ts';
import type { PartnerAnswer, PartnerOperation, PartnerRequest } from '../request.ts';
import { createKeyedMutex } from './keyed-mutex.ts';

/** Answers are kept this long, in milliseconds. */
const idempotencyLifetimeMs = 24 * 3600_000;

function malformed(message: string): PartnerError {
  return new PartnerError('invalid_request', { details: [{ path: 'Idempotency-Key', message }] });
}

/** The header's values as they came: Node joins repeated ones. */
function valuesOf({ rawHeaders }: IncomingMessage, name: string): string[] {
  return rawHeaders.filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === name);
}

/**
 * The `Idempotency-Key` of a request. A quoted value (a structured field string) and a bare one are the same key.
 * @returns `null` when there is none
 * @throws PartnerError `invalid_request`
 */
function keyOf(request: IncomingMessage): string | null {
  const values = valuesOf(request, 'idempotency-key');
  const [value] = values;
  if (value === undefined) return null;
  if (values.length > 1) throw malformed('is given twice');
  return checkedKey(/^"(.*)"$/.exec(value)?.[1] ?? value);
}

/** @throws PartnerError `invalid_request` */
function checkedKey(key: string): string {
  if (!/^[\x20-\x7E]{1,255}$/.test(key)) throw malformed('takes 1 to 255 printable ASCII characters');
  return key;
}

/** What a request is, for its fingerprint. */
interface Fingerprinted {
  readonly method: string;
  readonly route: string;
  readonly body: Buffer;
  readonly now: number;
}

/** The same for a look before the request is checked: `null` for a malformed one too. */
export function usableKeyOf(request: IncomingMessage): string | null {
  try {
    return keyOf(request);
  } catch {
    return null;
  }
}

/** How requests with an `Idempotency-Key` take effect once, whether they come to a route or from a console. */
export type Idempotency = ReturnType<typeof createIdempotency>;

export function createIdempotency(core: Core) {
  // So that what is stored tells nothing of the payload; the current one first. As key objects: with plain bytes Node spends several
  // times as long on a digest.
  const macKeys = core.sealer.derive('idempotency fingerprints').map((key) => createSecretKey(key));
  const exclusively = createKeyedMutex();

  /** @throws PartnerError `invalid_request` for a malformed key */
  function repeatable(given: string, what: Fingerprinted): IdempotencyRequest {
    const key = checkedKey(given);
    const [fingerprint, ...previous] = macKeys.map((macKey) =>
      createHmac('sha256', macKey).update(`${what.method} ${what.route}\n`).update(what.body).digest(),
    );
    if (fingerprint === undefined) throw new TypeError('a fingerprint needs a key');
    return { key, fingerprint, previous, endsAt: what.now + idempotencyLifetimeMs };
  }

  return {
    repeatable,

    /**
     * Reads the `Idempotency-Key` of a request, and makes its fingerprint.
     * @returns `null` when there is none
     * @throws PartnerError `invalid_request`
     */
    read(request: IncomingMessage, what: Fingerprinted): IdempotencyRequest | null {
      const key = keyOf(request);
      return key === null ? null : repeatable(key, what);
    },

    /**
     * Handles a request; what came with the same key before is answered as it was then.
     * @param earlier - the record of the key, where it was looked up already
     */
    async answer(
      operation: Pick<PartnerOperation, 'handle'>,
      request: PartnerRequest,
      earlier?: StoredRequest | null,
    ): Promise<PartnerAnswer> {
      const { partner, mode, idempotency } = request;
      if (idempotency === null) return await operation.handle(request);
      return await exclusively(
        `${partner} ${mode} ${idempotency.key}`,
        // What was looked up before is old for a request that has waited for another one.
        async (isFirst) =>
          (await findReplay(core, request, isFirst ? earlier : undefined)) ??
          (await operation.handle(request)),
      );
    },
  };
}
