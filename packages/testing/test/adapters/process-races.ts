import type { Storage } from '@ostiary/core/storage';
import { expect, test } from 'vitest';
import { inParallel } from '../../src/contract/case.ts';
import { consented, sampleGrant, sampleToken } from '../../src/contract/samples.ts';
import { type Place, shared, together } from './processes.ts';

/** A new database, where other processes find it, and what is applied there. */
export interface ProcessStage {
  readonly place: Place;
  /** Opens a storage on it, for the test. */
  open(): Promise<Storage>;
  applied(): Promise<unknown> | unknown;
}

/** What has to hold when several processes use one database, whichever it is. */
export function processRaces(stage: () => ProcessStage, migrations: readonly string[]): void {
  test('twenty processes that start at once on nothing all succeed, and migrate once', async () => {
    const { place, open, applied } = stage();
    const ids = Array.from({ length: 20 }, (_, index) => `process ${index}`);
    await together(
      shared('start.ts'),
      place,
      ids.map((id) => [id]),
    );
    const { queue } = await open();
    const jobs = await queue.claim({ kinds: ['start'], claimId: 'c', now: 0, leaseMs: 1, limit: 100 });
    expect(jobs.map((job) => job.id).toSorted()).toEqual(ids.toSorted());
    expect(await applied()).toEqual(migrations);
  });

  test('of two processes that redeem the same codes exactly one wins each, and its token is dead', async () => {
    const { place, open } = stage();
    const storage = await open();
    await consented(storage);
    const count = 200;
    const issued = await inParallel(count, (code) => storage.grants.issue(sampleGrant(`${code}`)));
    expect(issued).not.toContain(false);

    const names = ['first', 'second'];
    const answers = await together<string[]>(
      shared('redeem.ts'),
      place,
      names.map((name) => [name, String(count)]),
    );
    for (let code = 0; code < count; code += 1) {
      expect(answers.map((list) => list[code]).toSorted(), `code ${code}`).toEqual(['redeemed', 'replayed']);
      const tokens = await Promise.all(
        names.map((name) => storage.grants.findToken(sampleToken(`${code} ${name}`).digest)),
      );
      expect(tokens.filter((token) => token !== null)).toMatchObject([{ revoked: true }]);
    }
  });
}
