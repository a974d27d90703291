import type { ApiKeyState } from '../../ports/api-keys.ts';
import type { PortalSessionRecord } from '../../ports/portal.ts';

/** Sender of a partner API call: an API key with its rights, or a session of the live portal. */
export interface Caller
  extends Pick<
    ApiKeyState,
    | 'id'
    | 'partner'
    | 'mode'
    | 'name'
    | 'scopes'
    | 'allowlist'
    | 'requireSignature'
    | 'sealedSigningSecret'
    | 'quotaId'
    | 'expiresAt'
  > {
  /** Session of the live portal that sends the call; missing for an API key. */
  readonly portal?: PortalSessionRecord;
}

/**
 * Returns the caller for a session of the live portal. Such a caller has no scopes; the rights of the session
 * decide which operations it may call.
 */
export function portalCaller(session: PortalSessionRecord): Caller {
  const { id, partner, expiresAt } = session;
  return {
    ...{ id, partner, mode: 'live', name: '', scopes: [], allowlist: null, expiresAt },
    ...{ requireSignature: false, sealedSigningSecret: '', quotaId: id },
    portal: session,
  };
}

/** Returns who the audit log names for changes that were made in a session of the live portal. */
export const portalActor = ({ madeBy }: PortalSessionRecord): string => `portal link of ${madeBy}`;
