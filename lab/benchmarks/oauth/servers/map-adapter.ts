import type { Adapter, AdapterPayload } from 'oidc-provider';

const codes = new Set(['AuthorizationCode', 'AccessToken']);

/** Makes the simplest storage for the library `oidc-provider`: one Map with unchanged payloads. */
export function mapAdapter(): (model: string) => Adapter {
  const stored = new Map<string, AdapterPayload>();
  const byGrant = new Map<string, string[]>();

  return (model) => {
    const key = (id: string) => `${model}:${id}`;
    return {
      async upsert(id, payload) {
        stored.set(key(id), payload);
        if (!codes.has(model) || payload.grantId === undefined) return;
        const siblings = byGrant.get(payload.grantId);
        if (siblings === undefined) byGrant.set(payload.grantId, [key(id)]);
        else siblings.push(key(id));
      },
      async find(id) {
        return stored.get(key(id));
      },
      async consume(id) {
        const payload = stored.get(key(id));
        if (payload !== undefined) payload.consumed = Math.floor(Date.now() / 1000);
      },
      async destroy(id) {
        stored.delete(key(id));
      },
      async revokeByGrantId(grantId) {
        for (const sibling of byGrant.get(grantId) ?? []) stored.delete(sibling);
        byGrant.delete(grantId);
      },
      // Leave these out: the measured flow has neither sessions nor devices.
      async findByUid() {
        return undefined;
      },
      async findByUserCode() {
        return undefined;
      },
    };
  };
}
