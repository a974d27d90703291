import type { ConsoleAnswer, ConsoleBackend, ConsoleRequest, ConsoleVisit } from '@ostiary/core/console';
import type { Api } from './api.ts';
import type { UrlOf } from './paths.ts';
import type { Notice, Voice } from './words.ts';

/** Backend of the pages of the console or of the portal for live data. */
export type PageBackend = Omit<ConsoleBackend, 'signIn'>;

/** Data that every page of the partners' console and of the operators' pages needs. */
export interface PageBase {
  readonly backend: Pick<ConsoleBackend, 'theme'>;
  readonly voice: Voice;
  /** CSRF token, which proves that a form came from a page for this visitor. */
  readonly csrf: string;
  /** URL of the pages' script. */
  readonly script: string;
  /** URL of the pages' style sheet. */
  readonly style: string;
}

/** Data and functions that every page of the partners' console needs. */
export interface PageContext extends PageBase {
  readonly backend: PageBackend;
  /** Mode (test or live) of the data on the visited pages. */
  readonly mode: ConsoleVisit['mode'];
  readonly urlOf: UrlOf;
  readonly request: ConsoleRequest;
  /** Name of the message about the last action, from the URL; `null` for none. */
  readonly notice: Notice | null;
}

/** Request of a signed-in partner. */
export interface Visit extends PageContext {
  readonly partner: string;
  /**
   * False if the session may change nothing. Pages then leave out the forms that change something, and pages
   * that consist of such a form are refused.
   */
  readonly mayManage: boolean;
  readonly api: Api;
  readonly file: ConsoleVisit['file'];
  /** Id in the path of the URL; '' if the path has none. */
  readonly id: string;
}

/** Redirects the browser with 303, so that it sends a GET. */
export function seeOther(location: string, headers: ConsoleAnswer['headers'] = {}): ConsoleAnswer {
  return { status: 303, headers: { Location: location, ...headers } };
}
