import type { IncomingMessage } from 'node:http';
import type { ConsoleAnswer, ConsoleDesk, ConsoleRequest } from './console.ts';

/**
 * Sender of a request, as the host identifies it: an operator, whose name the audit log keeps (1 to 200
 * characters); a person who must sign in first, with a path on `authUrl` or an http(s) URL for that; or
 * `null` for anyone else.
 */
export type OperatorCheck = { readonly name: string } | { readonly redirectTo: string } | null;

/** Pages for the operators of the service (option `operators`). */
export interface Operators<Administration = never> {
  /**
   * Identifies the sender of a request, by anything that the host trusts: its own session cookie, or a header
   * that only its VPN can set. Called anew for every request. If it throws, or returns an invalid result, the
   * request is refused.
   */
  authenticate(request: IncomingMessage): Promise<OperatorCheck> | OperatorCheck;
  /** The pages: `operatorsConsole()` of `@ostiary/console`. */
  readonly pages: OperatorPages<Administration>;
}

/** Makes the pages of operators. */
export interface OperatorPages<Administration> {
  /** Called once. */
  pages(desk: OperatorDesk): readonly OperatorPage<Administration>[];
}

/** Layout that all those pages share. */
export interface OperatorDesk extends Pick<ConsoleDesk, 'theme' | 'prefix' | 'maxAttempts' | 'now' | 'url'> {}

/** A page for operators, or an action of theirs. Only operators reach a handler. */
export interface OperatorPage<Administration> {
  /** Below `{authUrl}/operators`, in the notation of the router: `/partners/:slug`; the first page is at `''`. */
  readonly path: string;
  /** For the documentation. */
  readonly summary: string;
  readonly GET?: (visit: OperatorVisit<Administration>) => Promise<ConsoleAnswer>;
  /** Called when the form is known to come from a page that was made for this operator. Each field, and each file, comes once. */
  readonly POST?: (
    visit: OperatorVisit<Administration>,
    form: ReadonlyMap<string, string>,
    files: ReadonlyMap<string, Uint8Array>,
  ) => Promise<ConsoleAnswer>;
}

/** A request of an operator. */
export interface OperatorVisit<Administration> extends ConsoleRequest {
  /** As `authenticate` has named them. */
  readonly operator: string;
  /** In the operator's name: every act is in the audit log with it. */
  readonly admin: Administration;
  /** Value of the field `csrf` of each form. */
  readonly proof: string;
}
