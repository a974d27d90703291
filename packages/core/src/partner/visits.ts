import type { Core } from '../context.ts';
import type { ConsoleRequest, ConsoleVisit } from '../ports/console.ts';
import { checkGrant } from './pipeline/admission.ts';
import { parseBody, parsePath, parseQuery } from './pipeline/body.ts';
import type { FoundKey } from './pipeline/key.ts';
import type { PartnerOperation, PartnerRequest } from './request.ts';

const json = { 'content-type': 'application/json' };

/** Calls operations in the name of a key that was admitted: what they take is checked as in a request to the API. */
export function visits(
  core: Core,
  operations: readonly PartnerOperation[],
): (found: FoundKey, request: ConsoleRequest) => ConsoleVisit {
  const byName = new Map(operations.map((operation) => [operation.operation, operation]));

  return (found, { raw }) => {
    const { key } = found;
    const { partner, mode } = key;
    const common = { partner, mode, key, address: () => core.clientAddress(raw), idempotency: null };
    return {
      partner,
      async call(name, { path = {}, query = {}, body = '' } = {}) {
        const operation = byName.get(name);
        if (operation === undefined) throw new TypeError(`console: there is no operation ${name}`);
        checkGrant(operation, found);
        const request: PartnerRequest = {
          ...common,
          path: parsePath(operation, path),
          query: parseQuery(operation, new URLSearchParams(query).toString()),
          body: parseBody(operation, Buffer.from(body), json),
          now: core.clock.now(),
        };
        const answer = await operation.handle(request);
        if ('stream' in answer) throw new TypeError(`console: ${name} answers with a stream`);
        return 'json' in answer ? JSON.parse(answer.json) : answer.body;
      },
    };
  };
}
