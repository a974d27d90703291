import type { IncomingHttpHeaders } from 'node:http';
import { type Act, actsOf } from '../../audit/acts.ts';
import type { HeaderFields } from '../../http/headers.ts';
import type { LimitGroup } from '../../limits/request-limits.ts';
import type { Core } from '../../options/context.ts';
import type { PartnerAnswer, PartnerOperation, PartnerRequest } from '../request.ts';
import { checkAddress } from './address.ts';
import { parseInput } from './body.ts';
import { type Caller, portalActor } from './caller.ts';
import { createIdempotency } from './idempotency.ts';
import { type Credential, createKeyCheck } from './key.ts';
import { createLimiter, type LimitOptions } from './limit.ts';
import { checkScope } from './scope.ts';
import { checkSignature } from './signature.ts';

/** A partner request on its way through the pipeline, over HTTP or from a console. */
export interface PartnerCall {
  readonly operation: PartnerOperation;
  readonly credential: Credential;
  /**
   * Returns the client's IP address; `null` if unknown. Called only if a step needs the address, which is
   * rare.
   */
  readonly address: () => string | null;
  /** Checks whether the client has disconnected, or the server is closing. */
  readonly isOver: () => boolean;
  /** Limit group in whose window the request is counted; `null` if it is not counted, or was counted before. */
  readonly limit: LimitGroup | null;
  readonly headers: IncomingHttpHeaders;
  /** Unparsed values of the header `Idempotency-Key`. */
  readonly idempotencyKeys: readonly string[];
  /** Path parameters of the request. */
  readonly path: unknown;
  readonly querystring: string;
  /** Method and path of the request, for the fingerprint of an idempotent request. */
  readonly target: string;
  /** Reads the body of the request; empty if it has no body. */
  readonly readBody: () => Promise<Buffer>;
  /** Time of the request, in milliseconds since the Unix epoch. */
  readonly now: number;
  /** Headers of the response, to which steps may add. */
  readonly answerHeaders: HeaderFields;
  /** API key or portal session of the request; `null` until the pipeline step for the key has found it. */
  key: Caller | null;
  /** Bytes of the request's body; `null` until they were read. */
  bytes: Buffer | null;
}

export type Pipeline = ReturnType<typeof createPipeline>;

/** Creates the pipeline of steps through which every partner request goes. */
export function createPipeline(core: Core, limits: LimitOptions) {
  const keys = createKeyCheck(core);
  const limiter = createLimiter(limits);
  const idempotency = createIdempotency(core);

  /**
   * Returns the function that makes audit log entries for changes. The result is `null` for an API key, whose
   * changes are not in the audit log.
   */
  const actOf = ({ portal }: Caller): Act | null =>
    portal === undefined ? null : actsOf(core, portalActor(portal));

  return {
    keys,
    limiter,

    /**
     * Runs the pipeline steps for a partner API request, in the documented order. Two checks come before the
     * pipeline: the request handler refuses a body whose announced length is too long, and finds the route
     * (http/request-handler.ts).
     * @throws PartnerError of the first step that refuses the request
     */
    async answer(call: PartnerCall): Promise<PartnerAnswer> {
      const { operation, headers, now } = call;
      const key = await keys.find(call.credential, now);
      call.key = key;
      checkAddress(key, call.address);
      checkScope(operation, key);
      if (call.limit !== null) Object.assign(call.answerHeaders, await limiter.count(key, call.limit, now));
      const bytes = await call.readBody();
      call.bytes = bytes;
      checkSignature(core, key, headers, bytes, now);
      const input = parseInput(operation, { ...call, bytes });
      const repeatable = operation.idempotent
        ? idempotency.read(call.idempotencyKeys, { ...call, bytes })
        : null;
      const { partner, mode } = key;
      const { address, isOver } = call;
      const readmit = async () => void (await keys.find(call.credential, core.clock.now()));
      const caller = { partner, mode, key, address, isOver, readmit, act: actOf(key) };
      const request: PartnerRequest = { ...input, ...caller, idempotency: repeatable, now };
      return await idempotency.answer(operation, request);
    },
  };
}
