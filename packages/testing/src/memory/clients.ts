import type { ClientRecord, ClientStore } from '@ostiary/core/storage';
import { note } from './audit.ts';
import type { Step } from './step.ts';
import { byCodeUnit, isEnabled, isPartnerDisabled, revokeGrants, type Tables } from './tables.ts';

export function memoryClients(step: Step): ClientStore {
  return {
    insert: (client, audit) =>
      step((tables) => {
        if (tables.clients.has(client.clientId)) return false;
        note(tables, audit);
        tables.clients.set(client.clientId, copy(client));
        return true;
      }),

    find: (clientId) =>
      step((tables) => {
        const client = tables.clients.get(clientId);
        if (client === undefined) return null;
        return { ...copy(client), partnerDisabled: isPartnerDisabled(tables, client.partner) };
      }),

    list: ({ after, limit }) =>
      step((tables) =>
        [...tables.clients.values()]
          .filter((client) => after === null || client.clientId > after)
          .sort((a, b) => byCodeUnit(a.clientId, b.clientId))
          .slice(0, limit)
          .map(copy),
      ),

    replace: (client, audit) =>
      step((tables) => {
        if (tables.clients.get(client.clientId)?.version !== client.version - 1) return false;
        note(tables, audit);
        tables.clients.set(client.clientId, copy(client));
        const { clientId, partner, disabledAt, updatedAt } = client;
        if (disabledAt !== null) revokeConsents(tables, clientId);
        if (disabledAt !== null || isPartnerDisabled(tables, partner))
          revokeGrants(tables, (grant) => grant.clientId === clientId, disabledAt ?? updatedAt);
        return true;
      }),

    originRegistered: (origin) =>
      step((tables) =>
        [...tables.clients.values()].some(
          (client) =>
            isEnabled(tables, client.clientId) &&
            client.redirectUris.some((uri) => webOrigin(uri) === origin),
        ),
      ),
  };
}

function revokeConsents(tables: Tables, clientId: string): void {
  for (const [key, consent] of tables.consents) {
    if (consent.clientId === clientId) tables.consents.delete(key);
  }
}

/** The origin that a browser on this page sends (RFC 6454), or `null` for a URI that is no web page. */
function webOrigin(uri: string): string | null {
  if (!URL.canParse(uri)) return null;
  const { protocol, origin } = new URL(uri);
  return protocol === 'https:' || protocol === 'http:' ? origin : null;
}

function copy(client: ClientRecord): ClientRecord {
  return {
    ...client,
    secrets: client.secrets.map((secret) => ({ ...secret, digest: Uint8Array.from(secret.digest) })),
    redirectUris: [...client.redirectUris],
    allowedScopes: [...client.allowedScopes],
  };
}
