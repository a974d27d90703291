import type { IncomingMessage } from 'node:http';
import type { ConsoleAnswer, ConsoleBackend, ConsoleRequest } from './partner-console.ts';

/**
 * Result of identifying the sender of a request. Either an operator, whose name (1 to 200 characters) the
 * audit log keeps; or a redirect for a person who must sign in first, to a path on `authUrl` or an http(s)
 * URL; or `null` for anyone else.
 */
export type OperatorCheck = { readonly name: string } | { readonly redirectTo: string } | null;

/** Value of the option `operators`, which adds pages for the operators of the service. */
export interface Operators<Administration = never> {
  /**
   * Identifies the sender of a request by anything that the host trusts, such as its own session cookie or a
   * header that only its VPN can set. Called for every request. If it throws, or returns an invalid result,
   * the request is refused.
   */
  authenticate(request: IncomingMessage): Promise<OperatorCheck> | OperatorCheck;
  /** Pages to serve: the result of `operatorsConsole()` of `@ostiary/console`. */
  readonly pages: OperatorPages<Administration>;
}

/** Creates the operators' pages. */
export interface OperatorPages<Administration> {
  /** Returns all operators' pages. Called once, at start. */
  pages(backend: OperatorBackend): readonly OperatorPage<Administration>[];
}

/** Dependencies of the operators' pages: settings of the service that they show, and functions that they call. */
export interface OperatorBackend
  extends Pick<ConsoleBackend, 'theme' | 'prefix' | 'maxAttempts' | 'now' | 'url'> {}

/** A page or form action for operators. Its handlers are called only for authenticated operators. */
export interface OperatorPage<Administration> {
  /**
   * Path below `{authUrl}/operators`, in the router's notation: `/partners/:slug`. The first page has the
   * path `''`.
   */
  readonly path: string;
  /** One-line description of the page, for the generated documentation. */
  readonly summary: string;
  readonly GET?: (visit: OperatorVisit<Administration>) => Promise<ConsoleAnswer>;
  /**
   * Handles a posted form. Called only if the form came from a page made for this operator (CSRF check) and
   * no field or file occurs twice.
   */
  readonly POST?: (
    visit: OperatorVisit<Administration>,
    form: ReadonlyMap<string, string>,
    files: ReadonlyMap<string, Uint8Array>,
  ) => Promise<ConsoleAnswer>;
}

/** A request of an authenticated operator. */
export interface OperatorVisit<Administration> extends ConsoleRequest {
  /** Name of the operator, as `authenticate` returned it. */
  readonly operator: string;
  /** Administration on behalf of the operator: every act is in the audit log with the operator's name. */
  readonly admin: Administration;
  /** Value for the field `csrf` of each form on the page. */
  readonly proof: string;
}
