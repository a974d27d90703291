import { PartnerError } from '../../errors.ts';
import type { ApiKeyState } from '../../ports/api-keys.ts';
import type { PartnerOperation } from '../request.ts';

/**
 * Checks that an API key's mode and scopes allow an operation.
 * @throws PartnerError `not_found` for a live key in the sandbox, `insufficient_scope` for a missing scope
 */
export function checkScope(
  { scope, testOnly }: Pick<PartnerOperation, 'scope' | 'testOnly'>,
  key: ApiKeyState,
): void {
  if (testOnly === true && key.mode !== 'test') {
    throw new PartnerError('not_found', {
      description: 'This endpoint belongs to the sandbox: it needs a test key, and this key is a live one.',
    });
  }
  if (scope === null || key.scopes.includes(scope)) return;
  throw new PartnerError('insufficient_scope', { description: `The API key lacks the scope ${scope}.` });
}
