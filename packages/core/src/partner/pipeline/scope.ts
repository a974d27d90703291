import { PartnerError } from '../../errors.ts';
import type { PortalRights } from '../../ports/portal.ts';
import type { PartnerOperation } from '../request.ts';
import type { Caller } from './caller.ts';

/**
 * Checks that the rights of a live portal session allow an operation.
 * @throws PartnerError `not_found` for an operation that the portal does not have, `insufficient_scope` for a change by a
 * session that may only view
 */
function checkRights(needed: PortalRights | undefined, rights: PortalRights): void {
  if (needed === undefined) {
    throw new PartnerError('not_found', { description: 'The live portal does not have this operation.' });
  }
  if (needed === 'view' || rights === 'manage') return;
  throw new PartnerError('insufficient_scope', { description: 'This session may view and change nothing.' });
}

/**
 * Checks that an operation is allowed: by the mode and scopes of an API key, or by the rights of a live
 * portal session.
 * @throws PartnerError `not_found` for a live key in the sandbox, `insufficient_scope` for a missing scope or right
 */
export function checkScope(
  { scope, testOnly, portal }: Pick<PartnerOperation, 'scope' | 'testOnly' | 'portal'>,
  key: Caller,
): void {
  if (key.portal !== undefined) {
    checkRights(portal, key.portal.rights);
    return;
  }
  if (testOnly === true && key.mode !== 'test') {
    throw new PartnerError('not_found', {
      description: 'This endpoint belongs to the sandbox: it needs a test key, and this key is a live one.',
    });
  }
  if (scope === null || key.scopes.includes(scope)) return;
  throw new PartnerError('insufficient_scope', { description: `The API key lacks the scope ${scope}.` });
}
