import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ClaimOutcome, type DedupeStore, handleOnce } from '../../src/dedupe/index.ts';

/** A dedupe store under test, with a function that removes it. */
export interface OpenStore {
  readonly store: DedupeStore;
  /** The dedupe store as another process sees it; the same store if only one process can use it. */
  readonly elsewhere: DedupeStore;
  close(): unknown;
}

const start = 1_780_000_000_000;
const leaseMs = 45_000;

/** Dedupe store of a test case, with event ids of its own. */
interface Kit extends OpenStore {
  readonly fresh: () => string;
  readonly claim: (id: string, token: string, now?: number) => Promise<ClaimOutcome>;
}

const cases: { readonly [name: string]: (kit: Kit) => Promise<void> } = {
  'gives an event to the first who asks, and to nobody else': async ({ claim, fresh }) => {
    const id = fresh();
    expect(await claim(id, 'first')).toBe('claimed');
    expect(await claim(id, 'second')).toBe('busy');
    expect(await claim(id, 'third', start + leaseMs - 1)).toBe('busy');
    expect(await claim(fresh(), 'fourth')).toBe('claimed');
  },

  'gives a completed event to nobody, ever': async ({ store, claim, fresh }) => {
    const id = fresh();
    await claim(id, 'first');
    await store.complete({ id, token: 'first', now: start + 5 });
    expect(await claim(id, 'second')).toBe('completed');
    expect(await claim(id, 'third', start + 100 * leaseMs)).toBe('completed');
    await store.release({ id, token: 'first' });
    expect(await claim(id, 'fourth')).toBe('completed');
  },

  'gives a released event to the next at once': async ({ store, claim, fresh }) => {
    const id = fresh();
    await claim(id, 'first');
    await store.release({ id, token: 'first' });
    expect(await claim(id, 'second')).toBe('claimed');
  },

  'gives the event of a handler that died to the next when its lease is over': async ({ claim, fresh }) => {
    const id = fresh();
    await claim(id, 'dead');
    expect(await claim(id, 'heir', start + leaseMs)).toBe('claimed');
    expect(await claim(id, 'late', start + leaseMs)).toBe('busy');
  },

  'lets nobody release what another has taken over': async ({ store, claim, fresh }) => {
    const id = fresh();
    await claim(id, 'slow');
    await claim(id, 'heir', start + leaseMs);
    await store.release({ id, token: 'slow' });
    expect(await claim(id, 'third', start + leaseMs + 1)).toBe('busy');
  },

  'takes the word of a slow handler that it is done, after another took over and after that one failed':
    async ({ store, claim, fresh }) => {
      const [taken, failed] = [fresh(), fresh()];
      for (const id of [taken, failed]) {
        await claim(id, 'slow');
        await claim(id, 'heir', start + leaseMs);
      }
      await store.release({ id: failed, token: 'heir' });
      for (const id of [taken, failed]) {
        await store.complete({ id, token: 'slow', now: start + leaseMs + 1 });
        expect(await claim(id, 'next', start + 10 * leaseMs)).toBe('completed');
      }
    },

  'has one winner among 50 parallel claims, of a new event and of one whose lease is over': async ({
    store,
    elsewhere,
    fresh,
  }) => {
    for (let turn = 0; turn < 10; turn += 1) {
      const id = fresh();
      for (const now of [start, start + leaseMs]) {
        const outcomes = await Promise.all(
          Array.from({ length: 50 }, (_, index) =>
            (index % 2 === 0 ? store : elsewhere).claim({
              id,
              token: `${now}-${index}`,
              now,
              leaseMs,
            }),
          ),
        );
        expect(outcomes.filter((outcome) => outcome === 'claimed')).toHaveLength(1);
        expect(outcomes.filter((outcome) => outcome === 'busy')).toHaveLength(49);
      }
    }
  },

  'runs one of 50 parallel handlers, and its failure leaves the event to the next': async ({
    store,
    fresh,
  }) => {
    const id = fresh();
    let runs = 0;
    const attempt = (fails: boolean) =>
      handleOnce(
        id,
        () => {
          runs += 1;
          if (fails) throw new Error('no luck');
        },
        { store, now: () => start },
      );
    await expect(attempt(true)).rejects.toThrow('no luck');
    const outcomes = await Promise.all(Array.from({ length: 50 }, () => attempt(false)));
    expect(runs).toBe(2);
    expect(outcomes.filter((outcome) => outcome === 'handled')).toHaveLength(1);
    expect(await attempt(false)).toBe('duplicate');
    expect(runs).toBe(2);
  },
};

/** Test cases that every dedupe store must pass. */
export function dedupeContract(name: string, open: () => OpenStore | Promise<OpenStore>): void {
  describe(`a dedupe store ${name}`, () => {
    let kit: Kit;
    let number = 0;
    beforeAll(async () => {
      const opened = await open();
      const claim: Kit['claim'] = (id, token, now = start) => opened.store.claim({ id, token, now, leaseMs });
      kit = { ...opened, claim, fresh: () => `evt_${number++}` };
    });
    afterAll(() => kit.close());

    it.each(Object.entries(cases))('%s', (_name, run) => run(kit));
  });
}
