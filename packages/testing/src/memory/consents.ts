import type { ConsentRecord, ConsentStore } from '@ostiary/core/storage';
import { note } from './audit.ts';
import type { Step } from './step.ts';
import { byCodeUnit, isEnabled, pairKey, revokeGrants } from './tables.ts';

export function memoryConsents(step: Step): ConsentStore {
  return {
    find: (sub, clientId) =>
      step((tables) => {
        const consent = tables.consents.get(pairKey(sub, clientId));
        return consent === undefined ? null : copy(consent);
      }),

    list: (sub) =>
      step((tables) =>
        [...tables.consents.values()]
          .filter((consent) => consent.sub === sub)
          .sort((a, b) => b.updatedAt - a.updatedAt || byCodeUnit(a.clientId, b.clientId))
          .map(copy),
      ),

    remember: ({ sub, clientId, scopes, now }) =>
      step((tables) => {
        if (!isEnabled(tables, clientId)) return false;
        const key = pairKey(sub, clientId);
        const known = tables.consents.get(key);
        tables.consents.set(key, {
          sub,
          clientId,
          scopes: [...new Set([...(known?.scopes ?? []), ...scopes])],
          grantedAt: known?.grantedAt ?? now,
          updatedAt: now,
        });
        return true;
      }),

    revoke: (sub, clientId, now) =>
      step((tables) => {
        revokeGrants(tables, (grant) => grant.sub === sub && grant.clientId === clientId, now);
        return tables.consents.delete(pairKey(sub, clientId));
      }),

    partnerHolds: ({ partner, sub, scope }) =>
      step((tables) =>
        [...tables.consents.values()].some(
          (consent) =>
            consent.sub === sub &&
            consent.scopes.includes(scope) &&
            isEnabled(tables, consent.clientId) &&
            tables.clients.get(consent.clientId)?.partner === partner,
        ),
      ),

    endUser: (sub, now, audit) =>
      step((tables) => {
        note(tables, audit);
        revokeGrants(tables, (grant) => grant.sub === sub, now);
        for (const [key, consent] of tables.consents) {
          if (consent.sub === sub) tables.consents.delete(key);
        }
      }),
  };
}

function copy(consent: ConsentRecord): ConsentRecord {
  return { ...consent, scopes: [...consent.scopes] };
}
