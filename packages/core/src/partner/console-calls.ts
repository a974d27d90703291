import { PartnerError } from '../errors.ts';
import type { LimitGroup } from '../limits/request-limits.ts';
import type { Core } from '../options/context.ts';
import type { ConsoleInput, ConsoleRequest, ConsoleVisit } from '../ports/partner-console.ts';
import type { ConsoleBackendParts } from './console-settings.ts';
import type { Caller } from './pipeline/caller.ts';
import type { Credential } from './pipeline/key.ts';
import type { PartnerCall } from './pipeline/pipeline.ts';
import type { PartnerAnswer, PartnerOperation } from './request.ts';

const noBytes = Buffer.alloc(0);

/** Headers of the partner API requests that a console makes. */
const json = { 'content-type': 'application/json' };

/**
 * Returns functions that run a console's requests through the partner API's pipeline: the checks of a
 * session, and the operations that its pages call.
 * @param opensWith - requirements for the callers that may open the console
 */
export function consoleCalls(
  core: Core,
  opensWith: Pick<PartnerOperation, 'scope' | 'testOnly' | 'portal'>,
  { pipeline, operations }: Pick<ConsoleBackendParts, 'pipeline' | 'operations'>,
) {
  const byName = new Map(operations.map((operation) => [operation.operation, operation]));

  /** Partner API operation that only checks whether a caller may use the console. */
  const opening: PartnerOperation = {
    ...opensWith,
    operation: 'openConsole',
    handle: async () => ({ status: 200, body: {} }),
  };

  function callOf({ raw }: ConsoleRequest, operation: PartnerOperation, credential: Credential): PartnerCall {
    return {
      operation,
      credential,
      address: () => core.clientAddress(raw),
      isOver: () => false,
      limit: null,
      headers: json,
      idempotencyKeys: [],
      path: {},
      querystring: '',
      target: '',
      readBody: async () => noBytes,
      now: core.clock.now(),
      answerHeaders: {},
      key: null,
      bytes: null,
    };
  }

  /**
   * Checks, with the steps of the partner API's pipeline, that a caller may use the console.
   * @param limit - limit group that counts the request; `null` if it is not counted
   * @throws PartnerError if the caller is refused or its limit is reached
   */
  async function admit(
    request: ConsoleRequest,
    credential: Credential,
    limit: LimitGroup | null,
  ): Promise<Caller> {
    const call = { ...callOf(request, opening, credential), limit };
    await pipeline.answer(call);
    if (call.key === null || call.key.requireSignature) throw new PartnerError('invalid_signature');
    if (limit === null) pipeline.limiter.refuseFull(call.key, 'console', call.now);
    return call.key;
  }

  /** Returns the console visit of a caller whose credential was accepted. */
  function visitOf(
    request: ConsoleRequest,
    credential: Credential,
    { partner, mode, portal }: Caller,
  ): ConsoleVisit {
    async function answerOf(
      name: string,
      { path = {}, query = {}, body = '', idempotencyKey }: ConsoleInput = {},
    ): Promise<PartnerAnswer> {
      const operation = byName.get(name);
      if (operation === undefined) throw new TypeError(`console: there is no operation ${name}`);
      return pipeline.answer({
        // Not counted again: the visit was counted, including all of its calls.
        ...callOf(request, operation, credential),
        idempotencyKeys: idempotencyKey === undefined ? [] : [idempotencyKey],
        path,
        querystring: new URLSearchParams(query).toString(),
        target: `console ${name} ${JSON.stringify(path)}`,
        readBody: async () => Buffer.from(body),
      });
    }

    return {
      ...{ partner, mode, mayManage: portal === undefined || portal.rights === 'manage' },
      async call(name, input) {
        const answer = await answerOf(name, input);
        if ('stream' in answer) throw new TypeError(`console: ${name} responds with a stream`);
        return typeof answer.body === 'string' ? JSON.parse(answer.body) : answer.body;
      },
      async file(name, input) {
        const answer = await answerOf(name, input);
        if ('body' in answer) throw new TypeError(`console: ${name} responds without a file`);
        return { type: answer.type, stream: answer.stream };
      },
    };
  }

  return { admit, visitOf };
}
