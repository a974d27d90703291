import type { Core } from '../options/context.ts';
import type { Owner } from '../ports/partners.ts';
import { digest } from '../secrets/tokens.ts';
import { everyEvent } from '../webhooks/search.ts';

/** The first steps of a new partner in test mode, each with whether it is done. */
export interface FirstRun {
  readonly endpoint: boolean;
  readonly event: boolean;
  readonly signature: boolean;
  readonly payment: boolean;
}

/**
 * Lifetime of the record that a partner's first steps are done, or only the signature check, in milliseconds.
 */
const rememberedMs = 10 * 365 * 24 * 3600_000;

const recordOf = (partner: string): Buffer => digest(`first run ${partner}`);

const everything: FirstRun = { endpoint: true, event: true, signature: true, payment: true };

/**
 * Creates the function that returns which first steps a partner has done in test mode, derived from the
 * stored data. Once all steps are done, a record says so, and no other data is queried any more, even when
 * the data is gone.
 */
export function firstRuns({ storage }: Pick<Core, 'storage'>) {
  const { sandbox, webhooks, events, transfers } = storage;

  async function stepsOf(owner: Owner, signature: boolean): Promise<FirstRun> {
    const endpoints = await webhooks.list(owner);
    const latest = await events.latest({ ...owner, ...everyEvent, limit: 1 });
    const all = { status: null, reference: null, from: null, to: null, after: null };
    const paid = await transfers.list({ ...owner, ...all, limit: 1 });
    return { endpoint: endpoints.length > 0, event: latest.length > 0, signature, payment: paid.length > 0 };
  }

  return {
    async of(partner: string, now: number): Promise<FirstRun> {
      const remembered = await sandbox.find(recordOf(partner), now);
      if (remembered?.all === true) return everything;
      const found = await stepsOf({ partner, mode: 'test' }, remembered?.signature === true);
      if (Object.values(found).every((isDone) => isDone))
        await sandbox.save(recordOf(partner), { all: true }, now + rememberedMs);
      return found;
    },

    /**
     * Records that an endpoint of the partner passed the signature check. No other stored data shows this
     * first step.
     */
    async signatureChecked(partner: string, now: number): Promise<void> {
      const remembered = await sandbox.find(recordOf(partner), now);
      if (remembered === null) await sandbox.save(recordOf(partner), { signature: true }, now + rememberedMs);
    },
  };
}
