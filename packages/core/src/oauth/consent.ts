import type { Core } from '../context.ts';
import type { ClientRecord } from '../ports/clients.ts';
import { isAskedEveryTime } from './client.ts';

/** What a consent page would have to ask. */
export interface ConsentState {
  /** Whether remembered consent covers every requested scope. */
  readonly covered: boolean;
  /** Whether the user has to be asked whatever is remembered. */
  readonly askAnyway: boolean;
  /** Scopes that the user approved for this client before. */
  readonly remembered: ReadonlySet<string>;
}

/** Compares a request with the consent that is remembered for this user and client. */
export async function consentState(
  core: Core,
  request: { client: ClientRecord; sub: string; scopes: Iterable<string> },
): Promise<ConsentState> {
  const consent = await core.storage.consents.find(request.sub, request.client.clientId);
  const remembered = new Set(consent?.scopes ?? []);
  return {
    covered: consent !== null && [...request.scopes].every((scope) => remembered.has(scope)),
    askAnyway: isAskedEveryTime(request.client),
    remembered,
  };
}
