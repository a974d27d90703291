import type { PartnerReach, PartnerRecord, PartnerStore } from '@ostiary/core/storage';
import { note } from './audit.ts';
import type { Step } from './step.ts';
import { byCodeUnit, bytesKey, revokeGrants, type Tables } from './tables.ts';
import { cancelWhere } from './webhooks.ts';

export function memoryPartners(step: Step): PartnerStore {
  return {
    insert: (partner, audit) =>
      step((tables) => {
        if (tables.partners.has(partner.slug)) return false;
        note(tables, audit);
        tables.partners.set(partner.slug, { ...partner });
        return true;
      }),

    find: (slug) =>
      step((tables) => {
        const partner = tables.partners.get(slug);
        return partner === undefined ? null : { ...partner };
      }),

    list: ({ after, limit }) =>
      step((tables) =>
        [...tables.partners.values()]
          .filter((partner) => after === null || partner.slug > after)
          .sort((a, b) => byCodeUnit(a.slug, b.slug))
          .slice(0, limit)
          .map((partner) => ({ ...partner })),
      ),

    replace: (partner, audit) =>
      step((tables) => {
        if (tables.partners.get(partner.slug)?.version !== partner.version - 1) return null;
        note(tables, audit);
        tables.partners.set(partner.slug, { ...partner });
        return {
          ...reachOf(tables, partner),
          ...(partner.disabledAt === null
            ? { codes: 0, tokens: 0, deliveries: 0 }
            : end(tables, partner.slug, partner.disabledAt, partner.updatedAt)),
        };
      }),
  };
}

function reachOf(
  { apiKeys, clients }: Tables,
  { slug, updatedAt }: PartnerRecord,
): Pick<PartnerReach, 'keys' | 'clients'> {
  const keys = [...apiKeys.values()].filter(
    ({ partner, revokedAt, expiresAt }) =>
      partner === slug && revokedAt === null && (expiresAt === null || expiresAt > updatedAt),
  );
  const own = [...clients.values()].filter(
    ({ partner, disabledAt }) => partner === slug && disabledAt === null,
  );
  return { keys: keys.length, clients: own.length };
}

/** Ends what a partner's clients were given, and what is on the way to the partner. */
function end(
  tables: Tables,
  slug: string,
  disabledAt: number,
  now: number,
): Pick<PartnerReach, 'codes' | 'tokens' | 'deliveries'> {
  const ended = new Set<string>();
  let codes = 0;
  for (const [key, { clientId, revokedAt, consumedAt, expiresAt }] of tables.grants) {
    if (revokedAt !== null || tables.clients.get(clientId)?.partner !== slug) continue;
    ended.add(key);
    if (consumedAt === null && expiresAt > now) codes += 1;
  }
  const tokens = [...tables.tokens.values()].filter(
    ({ codeKey, revokedAt, expiresAt }) => ended.has(codeKey) && revokedAt === null && expiresAt > now,
  );
  revokeGrants(tables, ({ codeDigest }) => ended.has(bytesKey(codeDigest)), disabledAt);
  const deliveries = cancelWhere(tables, ({ partner }) => partner === slug, now);
  return { codes, tokens: tokens.length, deliveries };
}
