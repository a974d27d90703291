import type { EventStore } from '@ostiary/core/storage';
import { outcomeOf, storeClaim } from './idempotency.ts';
import { publish } from './publications.ts';
import type { Step } from './step.ts';
import { byCodeUnit, isEnabled, isOwned } from './tables.ts';

export function memoryEvents(step: Step): EventStore {
  return {
    publish: (events, { idempotency, now }) =>
      step((tables) => {
        const earlier = idempotency && outcomeOf(tables, idempotency, now);
        if (earlier !== null) return earlier;
        publish(tables, events);
        if (idempotency !== null) storeClaim(tables, idempotency);
        return { outcome: 'published' };
      }),

    within() {
      throw new TypeError(
        'memoryStorage: there is no database, so a host has no transaction to publish in; publish without one',
      );
    },

    partnersHolding: ({ sub, scope }) =>
      step((tables) => {
        const holders = [...tables.consents.values()]
          .filter((consent) => consent.sub === sub && consent.scopes.includes(scope))
          .filter(({ clientId }) => isEnabled(tables, clientId))
          .map(({ clientId }) => tables.clients.get(clientId)?.partner ?? null);
        return [...new Set(holders)]
          .filter((slug) => slug !== null)
          .filter((slug) => tables.partners.get(slug)?.disabledAt === null)
          .sort(byCodeUnit);
      }),

    list: ({ partner, mode, after, limit }) =>
      step((tables) => {
        const owned = [...tables.events.values()].filter((event) => isOwned(event, { partner, mode }));
        const events = owned.filter(({ sequence }) => sequence > after).slice(0, limit);
        return { events: events.map((event) => ({ ...event })), oldestSequence: owned[0]?.sequence ?? null };
      }),

    latest: ({ partner, mode, before, type, limit }) =>
      step((tables) =>
        [...tables.events.values()]
          .filter((event) => isOwned(event, { partner, mode }))
          .filter((event) => before === null || event.sequence < before)
          .filter((event) => type === null || event.type === type)
          .reverse()
          .slice(0, limit)
          .map((event) => ({ ...event })),
      ),

    find: (owner, id) =>
      step((tables) => {
        const event = tables.events.get(id);
        return event !== undefined && isOwned(event, owner) ? { ...event } : null;
      }),
  };
}
