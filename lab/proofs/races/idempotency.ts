import type { Stage } from '../../support/processes/stage.ts';
import { definite, inTurn, type RaceReport, unavailableIn } from './race.ts';

/** One payment, sent many times at once to all web processes with one key: one transfer, and one answer for all. */
export async function raceForTransfers(
  { cluster, keys, server }: Stage,
  { runs, parallel }: { readonly runs: number; readonly parallel: number },
): Promise<RaceReport> {
  const origins = cluster.webs.map(({ origin }) => origin);
  const problems: string[] = [];
  let [unavailable, transfers, replayed, equal] = [0, 0, 0, 0];
  for (let run = 0; run < runs; run += 1) {
    const description = `race ${run}`;
    const body = JSON.stringify({ amount: '1.00', currency: 'USD', recipient: { kid: 'ana' }, description });
    const pay = async (origin: string) => {
      const response = await fetch(`${origin}/v1/partner/payments`, {
        method: 'POST',
        headers: {
          'x-api-key': keys.live,
          'content-type': 'application/json',
          'idempotency-key': `key of ${description}`,
        },
        body,
      });
      const isReplay = response.headers.get('idempotent-replayed') === 'true';
      return { status: response.status, isReplay, text: await response.text() };
    };
    const answers = await Promise.all(
      Array.from({ length: parallel }, (_, index) => definite(() => pay(inTurn(origins, index)))),
    );
    unavailable += unavailableIn(answers);
    const distinct = new Set(answers.map(({ status, text }) => `${status} ${text}`));
    if (distinct.size !== 1 || answers[0]?.status !== 201)
      problems.push(`run ${run}: ${[...distinct].join(' | ')}`);
    equal += distinct.size === 1 ? 1 : 0;
    const replays = answers.filter(({ isReplay }) => isReplay).length;
    replayed += replays;
    // Who was told 503 after all may have been the first.
    if (replays !== parallel - 1 && !(replays === parallel && unavailableIn(answers) > 0)) {
      problems.push(`run ${run}: ${replays} replays`);
    }
    const { rows } = await server.app.query<{ count: number }>(
      'SELECT count(*)::integer AS count FROM ostiary.transfers WHERE description = $1',
      [description],
    );
    const made = rows[0]?.count ?? 0;
    transfers += made;
    if (made !== 1) problems.push(`run ${run}: ${made} transfers`);
  }
  const figures = `${parallel} × one key: ${transfers} transfers in ${runs} runs, ${replayed} replays, all answers equal in ${equal}`;
  return { name: 'idempotency keys', runs, figures, unavailable, problems };
}
