import type { ConsoleAnswer, ConsoleDesk, ConsoleRequest } from '@ostiary/core/console';
import type { Api } from './api.ts';
import type { UrlOf } from './paths.ts';
import type { Notice, Voice } from './words.ts';

/** Dependencies of every page. */
export interface PageContext {
  readonly desk: ConsoleDesk;
  readonly urlOf: UrlOf;
  readonly request: ConsoleRequest;
  readonly voice: Voice;
  /** Action in the URL that was just done. */
  readonly notice: Notice | null;
  /** Proves that a form came from a page for this visitor. */
  readonly csrf: string;
  /** The address of the script. */
  readonly script: string;
}

/** A signed-in partner's request. */
export interface Visit extends PageContext {
  readonly partner: string;
  readonly api: Api;
  /** Parameter of the path, '' if it has none. */
  readonly id: string;
}

/** Sends the browser on with a GET. */
export function seeOther(location: string, headers: ConsoleAnswer['headers'] = {}): ConsoleAnswer {
  return { status: 303, headers: { Location: location, ...headers } };
}
