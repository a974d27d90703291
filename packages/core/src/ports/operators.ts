import type { IncomingMessage } from 'node:http';
import type { ConsoleAnswer, ConsoleDesk, ConsoleRequest } from './console.ts';

/**
 * Who a request comes from, as the host knows it: an operator, whose name the audit log keeps (1 to 200 characters); somebody who has to
 * sign in first, with a path on `authUrl` or an http(s) address where that is done; or `null`, nobody who may be here.
 */
export type OperatorCheck = { readonly name: string } | { readonly redirectTo: string } | null;

/** Pages for the operators of the service (option `operators`). */
export interface Operators<Administration = never> {
  /**
   * Says who a request comes from, by whatever the host trusts: its own session cookie, a header that only its VPN can set. Asked anew
   * for every request. What it throws, and an answer that is none of these, lets nobody in.
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

/** What all those pages have in common. */
export interface OperatorDesk extends Pick<ConsoleDesk, 'theme' | 'prefix' | 'maxAttempts' | 'now' | 'url'> {}

/** A page for operators, or an act of theirs. Nobody else gets as far as a handler. */
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
  /** What each form carries in its field `csrf`. */
  readonly proof: string;
}
