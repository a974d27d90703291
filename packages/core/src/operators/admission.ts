import type { IncomingMessage } from 'node:http';
import { operatorRights } from '../admin/rights.ts';
import { OAuthError } from '../errors.ts';
import type { Core } from '../options/context.ts';
import type { OperatorRight, Operators, SignOutForm } from '../ports/operators.ts';

/**
 * Thrown when the host application's `operators.authenticate` returned an invalid result, which is a bug of
 * the host. The request is refused.
 */
class OperatorCheckError extends TypeError {
  override readonly name = 'OperatorCheckError';

  constructor(problem: string) {
    super(`operators.authenticate: ${problem}`);
  }
}

/**
 * Pattern for names and roles of operators. Unlike `admin.as`, it refuses control characters and line ends:
 * names that cannot be stored or read would make the audit log useless.
 */
const nameRule = /^(?=.*[^\s])[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]{1,200}$/u;

/** Operator whom the host application's `operators.authenticate` returned, checked. */
interface AdmittedOperator {
  readonly name: string;
  readonly role: string | null;
  readonly may: readonly OperatorRight[];
  /** URL where the operator confirms the sign-in; `null` if the sign-in is recent enough. */
  readonly confirmAt: string | null;
  /** Form with which the operator signs out; `null` if the application offers no such form. */
  readonly signOut: Required<SignOutForm> | null;
}

/** Result of asking the host application about a request: an operator, or a redirect to sign in. */
export type Admitted = { readonly operator: AdmittedOperator } | { readonly redirectTo: string };

function urlOf({ options }: Core, member: string, to: unknown): string {
  const base = options.authUrl.href;
  if (typeof to !== 'string' || !URL.canParse(to, base))
    throw new OperatorCheckError(`${member} has to be a URL`);
  const { protocol, href } = new URL(to, base);
  if (protocol !== 'https:' && protocol !== 'http:')
    throw new OperatorCheckError(`${member} has to be an http or https URL`);
  return href;
}

/**
 * Checks the sign-out form that the host application returned for an operator: its URL and its fields. Fills
 * in defaults.
 */
function signOutOf(core: Core, form: unknown): Required<SignOutForm> {
  const { action, fields = {} } = (form ?? {}) as { readonly [member: string]: unknown };
  const isPlain = typeof fields === 'object' && fields !== null;
  const entries: readonly (readonly [string, unknown])[] = isPlain ? Object.entries(fields) : [];
  const texts = entries.flatMap(([name, value]) =>
    typeof value === 'string' ? [[name, value] as const] : [],
  );
  if (!isPlain || texts.length < entries.length)
    throw new OperatorCheckError('signOut.fields has to be an object of strings');
  return { action: urlOf(core, 'signOut.action', action), fields: Object.fromEntries(texts) };
}

/**
 * Checks the rights that the host application returned for an operator; `undefined` stands for all rights. A
 * misspelt right is an error; it does not count as a missing right.
 */
function rightsOf(may: unknown): readonly OperatorRight[] {
  if (may === undefined) return operatorRights;
  const given: readonly unknown[] | null = Array.isArray(may) ? may : null;
  const rights = operatorRights.filter((right) => given?.includes(right));
  if (given === null || given.some((right) => !rights.some((known) => known === right)))
    throw new OperatorCheckError(`may has to be a list of ${operatorRights.join(', ')}`);
  return rights;
}

/**
 * Asks the host application's `operators.authenticate` which operator sent a request.
 * @throws OAuthError with status 403 and without details, if the sender is no operator
 * @throws OperatorCheckError if the host's result is invalid, HostTimeoutError if it takes too long, or the host's own error
 */
export async function admit(
  core: Core,
  { authenticate }: Pick<Operators, 'authenticate'>,
  request: IncomingMessage,
): Promise<Admitted> {
  const answer: unknown = await authenticate(request);
  // Use the text for an unknown path, so that the 403 does not reveal that a page exists.
  if (answer === null) throw new OAuthError('not_found', undefined, { status: 403 });
  if (typeof answer !== 'object')
    throw new OperatorCheckError('must return an operator, a redirect to the sign-in, or null');
  const { name, role, may, confirmAt, signOut, redirectTo } = answer as {
    readonly [member: string]: unknown;
  };
  if (redirectTo !== undefined) {
    if (name !== undefined) throw new OperatorCheckError('must return either name or redirectTo, not both');
    return { redirectTo: urlOf(core, 'redirectTo', redirectTo) };
  }
  if (typeof name !== 'string' || !nameRule.test(name))
    throw new OperatorCheckError(
      'name has to have 1 to 200 characters, none of which is a control character',
    );
  if (role !== undefined && (typeof role !== 'string' || role.length > 40 || !nameRule.test(role)))
    throw new OperatorCheckError('role has to have 1 to 40 characters, none of which is a control character');
  return {
    operator: {
      ...{ name, role: role ?? null, may: rightsOf(may) },
      confirmAt: confirmAt === undefined ? null : urlOf(core, 'confirmAt', confirmAt),
      signOut: signOut === undefined ? null : signOutOf(core, signOut),
    },
  };
}
