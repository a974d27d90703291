import { PartnerError } from '../../errors.ts';
import type { ApiKeyState, KeyScope } from '../../ports/api-keys.ts';

/** @throws PartnerError `insufficient_scope` */
export function checkScope(key: ApiKeyState, scope: KeyScope | null): void {
  if (scope === null || key.scopes.includes(scope)) return;
  throw new PartnerError('insufficient_scope', { description: `The API key lacks the scope ${scope}.` });
}
