import {
  authorizePath,
  codeFrom,
  exchangeAt,
  RoamingBrowser,
  userinfoStatusAt,
} from '../../support/browser/remote-flow.ts';
import { insist } from '../../support/insist.ts';
import { authUrl } from '../../support/processes/cluster-options.ts';
import type { Stage } from '../../support/processes/stage.ts';
import { definite, inTurn, type RaceReport, unavailableIn } from './race.ts';

/** Tokens that could be used, of grants that are not over. */
const livingTokens = `
  SELECT count(*)::integer AS count FROM ostiary.access_tokens JOIN ostiary.grants ON grants.id = grant_id
  WHERE access_tokens.revoked_at IS NULL AND grants.revoked_at IS NULL
`;

/** One code, redeemed many times at once at all web processes: one token, which the replays end. */
export async function raceForCodes(
  { cluster, client, server }: Stage,
  { runs, parallel }: { readonly runs: number; readonly parallel: number },
): Promise<RaceReport> {
  const origins = cluster.webs.map(({ origin }) => origin);
  const problems: string[] = [];
  let [unavailable, winners, surviving] = [0, 0, 0];
  for (let run = 0; run < runs; run += 1) {
    const code = await insist(() =>
      codeFrom(origins, new RoamingBrowser(authUrl, 'ana'), authorizePath(client)),
    );
    const answers = await Promise.all(
      Array.from({ length: parallel }, (_, index) =>
        definite(() => exchangeAt(inTurn(origins, index), client, code)),
      ),
    );
    unavailable += unavailableIn(answers);
    const won = answers.filter(({ status }) => status === 200);
    winners += won.length;
    // A winner that was told 503 does not know that it won, and its next try ends the token.
    const isLost = won.length === 0 && unavailableIn(answers) > 0;
    if (won.length !== 1 && !isLost) problems.push(`run ${run}: ${won.length} winners`);
    const others = answers.filter(({ status, json }) => status !== 400 || json.error !== 'invalid_grant');
    if (others.length !== won.length)
      problems.push(`run ${run}: ${JSON.stringify(others.map(({ json }) => json))}`);
    for (const { json } of won) {
      const statuses = await Promise.all(
        origins.map((origin) => userinfoStatusAt(origin, String(json.access_token))),
      );
      const living = statuses.filter((status) => status !== 401).length;
      surviving += living;
      if (living > 0) problems.push(`run ${run}: its token is answered with ${statuses.join(' and ')}`);
    }
  }
  const { rows } = await server.app.query<{ count: number }>(livingTokens);
  if (rows[0]?.count !== 0) problems.push(`${rows[0]?.count} tokens live in the database`);
  const figures = `${parallel} × one code: ${winners} winners in ${runs} runs, ${surviving} surviving tokens`;
  return { name: 'authorization codes', runs, figures, unavailable, problems };
}
