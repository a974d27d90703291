import type { PartnerStore } from '../ports/partners.ts';
import { note } from './audit.ts';
import type { Step } from './step.ts';
import { byCodeUnit } from './tables.ts';

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
        if (tables.partners.get(partner.slug)?.version !== partner.version - 1) return false;
        note(tables, audit);
        tables.partners.set(partner.slug, { ...partner });
        return true;
      }),
  };
}
