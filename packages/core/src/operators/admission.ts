import type { IncomingMessage } from 'node:http';
import { OAuthError } from '../errors.ts';
import type { Core } from '../options/context.ts';
import type { Operators } from '../ports/operators.ts';

/**
 * Thrown when `operators.authenticate` returned an invalid result, which is a defect of the host. The request
 * is refused.
 */
class OperatorCheckError extends TypeError {
  override readonly name = 'OperatorCheckError';

  constructor(problem: string) {
    super(`operators.authenticate: ${problem}`);
  }
}

/**
 * Rule for operator names, the same as for `admin.as`. Names that cannot be stored or read would make the
 * audit log useless.
 */
const nameRule = /^(?=.*[^\s])[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]{1,200}$/u;

/** Result of admitting a request: the operator's name, or a redirect to sign in. */
export type Admitted = { readonly operator: string } | { readonly redirectTo: string };

function redirectOf({ options }: Core, to: unknown): string {
  const base = options.authUrl.href;
  if (typeof to !== 'string' || !URL.canParse(to, base))
    throw new OperatorCheckError('redirectTo has to be a URL');
  const { protocol, href } = new URL(to, base);
  if (protocol !== 'https:' && protocol !== 'http:')
    throw new OperatorCheckError('redirectTo has to be an http or https URL');
  return href;
}

/**
 * Asks the host which operator sent a request.
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
  const { name, redirectTo } = answer as { readonly name?: unknown; readonly redirectTo?: unknown };
  if (redirectTo !== undefined) {
    if (name !== undefined) throw new OperatorCheckError('must return either name or redirectTo, not both');
    return { redirectTo: redirectOf(core, redirectTo) };
  }
  if (typeof name !== 'string' || !nameRule.test(name))
    throw new OperatorCheckError(
      'name has to have 1 to 200 characters, none of which is a control character',
    );
  return { operator: name };
}
