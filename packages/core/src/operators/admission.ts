import type { IncomingMessage } from 'node:http';
import { OAuthError } from '../errors.ts';
import type { Core } from '../options/context.ts';
import type { Operators } from '../ports/operators.ts';

/**
 * Error for an unusable result of `operators.authenticate`. It is a defect of the host, and no operator is
 * admitted.
 */
class OperatorCheckError extends TypeError {
  override readonly name = 'OperatorCheckError';

  constructor(problem: string) {
    super(`operators.authenticate: ${problem}`);
  }
}

/** As `admin.as` takes it; what cannot be stored or read would make the audit log useless. */
const nameRule = /^(?=.*[^\s])[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]{1,200}$/u;

/** Result of the admission: an operator, or a redirect to the sign-in. */
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
 * Asks the host who a request comes from.
 * @throws OAuthError with status 403, which tells nothing; OperatorCheckError; HostTimeoutError; what the host throws
 */
export async function admit(
  core: Core,
  { authenticate }: Pick<Operators, 'authenticate'>,
  request: IncomingMessage,
): Promise<Admitted> {
  const answer: unknown = await authenticate(request);
  // The page says what it says where nothing is.
  if (answer === null) throw new OAuthError('not_found', undefined, { status: 403 });
  if (typeof answer !== 'object')
    throw new OperatorCheckError('has to answer an operator, where to sign in, or null');
  const { name, redirectTo } = answer as { readonly name?: unknown; readonly redirectTo?: unknown };
  if (redirectTo !== undefined) {
    if (name !== undefined)
      throw new OperatorCheckError('answers a name and a redirectTo, and not one of them');
    return { redirectTo: redirectOf(core, redirectTo) };
  }
  if (typeof name !== 'string' || !nameRule.test(name))
    throw new OperatorCheckError(
      'name has to have 1 to 200 characters, none of which is a control character',
    );
  return { operator: name };
}
