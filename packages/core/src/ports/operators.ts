import type { IncomingMessage } from 'node:http';
import type { ConsoleAnswer, ConsoleBackend, ConsoleRequest } from './partner-console.ts';

/**
 * Topic that an operator may change: `partners`; `keys` (API keys); `clients` (OAuth clients); `webhooks`
 * (endpoints and deliveries); `users`, which is also needed to see users; and `service` (signing keys and
 * maintenance). `payments` is needed to read payments and their files, which name the users who were paid.
 */
export type OperatorRight = 'partners' | 'keys' | 'clients' | 'webhooks' | 'payments' | 'users' | 'service';

/** Usual role of an operator. The table `operatorRoles` contains the rights of each role. */
export type OperatorRole = 'viewer' | 'support' | 'admin' | 'owner';

/** Form that ends the session of an operator at the application. */
export interface SignOutForm {
  /** Path on `authUrl`, or an http(s) URL, to which the sign-out form is posted. */
  readonly action: string;
  /** Hidden fields of the sign-out form by name, such as your CSRF token. @defaultValue none */
  readonly fields?: Readonly<Record<string, string>>;
}

/** Operator who sent a request, as the host application identified the person. */
export interface Operator {
  /** Name of the operator in the audit log: 1 to 200 characters. */
  readonly name: string;
  /** Role of the operator, which the audit log keeps beside the name: 1 to 40 characters. @defaultValue none */
  readonly role?: string;
  /** Rights of the operator, for example `operatorRoles.support`. @defaultValue all rights */
  readonly may?: readonly OperatorRight[];
  /**
   * Path on `authUrl`, or an http(s) URL, where the operator must confirm the sign-in before an act that
   * cannot be undone. Forms of such acts redirect there and change nothing. Return it if the operator's last
   * sign-in was too long ago. @defaultValue the sign-in is recent enough
   */
  readonly confirmAt?: string;
  /**
   * Form with which the operator signs out. With this form, every page has a button for signing out.
   * @defaultValue no such button
   */
  readonly signOut?: SignOutForm;
}

/**
 * Result of identifying the sender of a request: an operator; or, for a person who must sign in first, a
 * redirect to a path on `authUrl` or an http(s) URL; or `null` for anyone else.
 */
export type OperatorCheck = Operator | { readonly redirectTo: string } | null;

/** Value of the option `operators`, which adds pages for the operators of the service. */
export interface Operators<Administration = never> {
  /**
   * Identifies the sender of a request by anything that the host application trusts, such as its own session
   * cookie or a header that only its VPN can set. Called for every request. If it throws, or returns an
   * invalid result, the request is refused.
   */
  authenticate(request: IncomingMessage): Promise<OperatorCheck> | OperatorCheck;
  /** Pages to serve: the result of `operatorsConsole()` of `@ostiary/console`. */
  readonly pages: OperatorPages<Administration>;
}

/** Set of pages for operators, such as the result of `operatorsConsole()`. */
export interface OperatorPages<Administration> {
  /** Returns all operators' pages. Called once, at start. */
  pages(backend: OperatorBackend): readonly OperatorPage<Administration>[];
}

/** Dependencies of the operators' pages: settings of the service that they show, and functions that they call. */
export interface OperatorBackend
  extends Pick<
    ConsoleBackend,
    | 'theme'
    | 'prefix'
    | 'events'
    | 'maxAttempts'
    | 'allowsPrivateTargets'
    | 'now'
    | 'keepOnce'
    | 'takeOnce'
    | 'url'
  > {
  /** True if the service has a live portal, for which operators can make links. */
  readonly hasPortal: boolean;
}

/** A page or form action for operators. Its handlers are called only for authenticated operators. */
export interface OperatorPage<Administration> {
  /**
   * Path below `{authUrl}/operators`, in the router's notation: `/partners/:slug`. The first page has the
   * path `''`.
   */
  readonly path: string;
  /** One-line description of the page, for the generated documentation. */
  readonly summary: string;
  /** Right that the form of the page needs. Operators without the right get a 403. @defaultValue none */
  readonly right?: OperatorRight;
  /** True if only operators with the right may see the page. @defaultValue false */
  readonly isHidden?: boolean;
  /**
   * True if the form performs acts that cannot be undone, so that operators confirm their sign-in first; see
   * {@link Operator.confirmAt}. @defaultValue false
   */
  readonly isConfirmed?: boolean;
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
  /** Rights of the operator, to leave out forms that would be refused. */
  readonly may: readonly OperatorRight[];
  /**
   * URL where the operator must confirm the sign-in before the form of this page is accepted; `null` if no
   * confirmation is needed.
   */
  readonly confirmAt: string | null;
  /**
   * Form with which the operator signs out; `null` if the application offers no such form. `action` is a URL.
   */
  readonly signOut: Required<SignOutForm> | null;
  /**
   * Administrative calls on behalf of the operator: every act is in the audit log with the operator's name
   * and role, and needs the right to its topic.
   */
  readonly admin: Administration;
  /** Value for the hidden field `csrf` of each form on the page. */
  readonly proof: string;
}
