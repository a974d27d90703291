import { insist } from '../../support/insist.ts';
import { partner } from '../../support/processes/cluster-options.ts';
import type { Stage } from '../../support/processes/stage.ts';
import { definite, inTurn, type RaceReport, unavailableIn } from './race.ts';

/** Looking users up is limited to this in a minute while limits are raced for. */
export const raceLimit = { requests: 60, windowSeconds: 60 };

/** Many requests of one key at once at all web processes: exactly as many are allowed as the limit says. */
export async function raceForLimits(
  { cluster, ostiary }: Stage,
  { runs, parallel }: { readonly runs: number; readonly parallel: number },
): Promise<RaceReport> {
  const origins = cluster.webs.map(({ origin }) => origin);
  const problems: string[] = [];
  let [unavailable, allowed, refused] = [0, 0, 0];
  const left = Array.from(
    { length: Math.min(raceLimit.requests, parallel) },
    (_, index) => raceLimit.requests - 1 - index,
  );
  for (let run = 0; run < runs; run += 1) {
    const { key } = await insist(() =>
      ostiary.admin.apiKeys.issue({ partner, mode: 'live', scopes: ['users:read'] }),
    );
    const lookUp = async (origin: string) => {
      const response = await fetch(`${origin}/v1/partner/users/ana`, { headers: { 'x-api-key': key } });
      await response.arrayBuffer();
      return { status: response.status, remaining: Number(response.headers.get('x-ratelimit-remaining')) };
    };
    const answers = await Promise.all(
      Array.from({ length: parallel }, (_, index) => definite(() => lookUp(inTurn(origins, index)))),
    );
    const lost = unavailableIn(answers);
    unavailable += lost;
    const passed = answers.filter(({ status }) => status === 200);
    allowed += passed.length;
    refused += answers.filter(({ status }) => status === 429).length;
    if (passed.length + answers.filter(({ status }) => status === 429).length !== parallel) {
      problems.push(
        `run ${run}: answered with ${[...new Set(answers.map(({ status }) => status))].join(', ')}`,
      );
    }
    // A 503 may have been counted: whoever asked did not hear of it.
    if (passed.length > left.length || passed.length + lost < left.length) {
      problems.push(`run ${run}: ${passed.length} of ${parallel} were allowed`);
    }
    const said = passed.map(({ remaining }) => remaining).toSorted((a, b) => b - a);
    if (new Set(said).size !== said.length)
      problems.push(`run ${run}: two were told that the same number is left`);
    if (lost === 0 && said.join() !== left.join()) problems.push(`run ${run}: ${said.join()} were left`);
  }
  const figures =
    `${parallel} × one key with limit ${raceLimit.requests}: ${allowed / runs} allowed and ` +
    `${refused / runs} refused in each of ${runs} runs`;
  return { name: 'partner limits', runs, figures, unavailable, problems };
}
