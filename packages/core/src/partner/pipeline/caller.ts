import type { ApiKeyState } from '../../ports/api-keys.ts';
import type { PortalSessionRecord } from '../../ports/portal.ts';

/** Sender of a partner request: an API key with its rights, or a session of the live portal. */
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
  /** Session of the live portal; missing for an API key. */
  readonly portal?: PortalSessionRecord;
}

/** Returns the caller for a session of the live portal. It has no scopes: its rights decide what it may call. */
export function portalCaller(session: PortalSessionRecord): Caller {
  const { id, partner, expiresAt } = session;
  return {
    ...{ id, partner, mode: 'live', name: '', scopes: [], allowlist: null, expiresAt },
    ...{ requireSignature: false, sealedSigningSecret: '', quotaId: id },
    portal: session,
  };
}

/** Returns the actor of acts in a session of the live portal, for the audit log. */
export const portalActor = ({ madeBy }: PortalSessionRecord): string => `portal link of ${madeBy}`;
