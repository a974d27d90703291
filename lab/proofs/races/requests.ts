import {
  authorizePath,
  codeFrom,
  exchangeAt,
  RoamingBrowser,
  userinfoStatusAt,
} from '../../support/browser/remote-flow.ts';
import { insist } from '../../support/insist.ts';
import { authUrl, partner } from '../../support/processes/cluster-options.ts';
import type { Stage } from '../../support/processes/stage.ts';
import { jsonPost } from '../client.ts';
import { Race, type RaceReport, unavailableIn } from './race.ts';

/** How often, and how many at once. */
export interface RequestRaceSize {
  readonly runs: number;
  readonly parallel: number;
}

const originsOf = ({ cluster }: Stage): string[] => cluster.webs.map(({ origin }) => origin);

async function countOf({ server }: Stage, sql: string, values: readonly unknown[] = []): Promise<number> {
  const { rows } = await server.app.query<{ count: number }>(
    `SELECT count(*)::integer AS count FROM ${sql}`,
    [...values],
  );
  return rows[0]?.count ?? 0;
}

/** One code, redeemed many times at once at all web processes: one token, which the replays end. */
export async function raceForCodes(stage: Stage, { runs, parallel }: RequestRaceSize): Promise<RaceReport> {
  const { client } = stage;
  const origins = originsOf(stage);
  const race = new Race(origins);
  const once = async (): Promise<void> => {
    const code = await insist(() =>
      codeFrom(origins, new RoamingBrowser(authUrl, 'ana'), authorizePath(client)),
    );
    const answers = await race.all(parallel, (origin) => exchangeAt(origin, client, code));
    const won = answers.filter(({ status }) => status === 200);
    race.count('winners', won.length);
    // A winner that was told 503 does not know that it won, and its next try ends the token.
    const isLost = won.length === 0 && unavailableIn(answers) > 0;
    race.expect(won.length === 1 || isLost, `${won.length} winners`);
    const others = answers.filter(({ status, json }) => status !== 400 || json.error !== 'invalid_grant');
    race.expect(others.length === won.length, JSON.stringify(others.map(({ json }) => json)));
    for (const { json } of won) {
      const statuses = await Promise.all(
        origins.map((origin) => userinfoStatusAt(origin, String(json.access_token))),
      );
      const isDead = statuses.every((status) => status === 401);
      race.count('surviving', isDead ? 0 : 1);
      race.expect(isDead, `its token is answered with ${statuses.join(' and ')}`);
    }
    // Tokens that could be used, of grants that are not over.
    const living = await countOf(
      stage,
      `ostiary.access_tokens JOIN ostiary.grants ON grants.id = grant_id
       WHERE access_tokens.revoked_at IS NULL AND grants.revoked_at IS NULL`,
    );
    race.expect(living === 0, `${living} tokens live in the database`);
  };
  return race.run(
    'authorization codes',
    runs,
    once,
    (sum) =>
      `${parallel} × one code: ${sum('winners')} winners in ${runs} runs, ${sum('surviving')} surviving tokens`,
  );
}

/** One payment, sent many times at once to all web processes with one key: one transfer, and one answer for all. */
export async function raceForTransfers(
  stage: Stage,
  { runs, parallel }: RequestRaceSize,
): Promise<RaceReport> {
  const race = new Race(originsOf(stage));
  const once = async (run: number): Promise<void> => {
    const description = `race ${run}`;
    const request = jsonPost(
      { amount: '1.00', currency: 'USD', recipient: { kid: 'ana' }, description },
      { 'x-api-key': stage.keys.live, 'idempotency-key': `key of ${description}` },
    );
    const answers = await race.all(parallel, async (origin) => {
      const response = await fetch(`${origin}/v1/partner/payments`, request);
      const isReplay = response.headers.get('idempotent-replayed') === 'true';
      return { status: response.status, isReplay, text: await response.text() };
    });
    const distinct = new Set(answers.map(({ status, text }) => `${status} ${text}`));
    race.expect(distinct.size === 1 && answers[0]?.status === 201, [...distinct].join(' | '));
    race.count('equal', distinct.size === 1 ? 1 : 0);
    const replays = answers.filter(({ isReplay }) => isReplay).length;
    race.count('replays', replays);
    // Who was told 503 after all may have been the first.
    const isFirstUnheard = replays === parallel && unavailableIn(answers) > 0;
    race.expect(replays === parallel - 1 || isFirstUnheard, `${replays} replays`);
    const made = await countOf(stage, 'ostiary.transfers WHERE description = $1', [description]);
    race.count('transfers', made);
    race.expect(made === 1, `${made} transfers`);
  };
  return race.run(
    'idempotency keys',
    runs,
    once,
    (sum) =>
      `${parallel} × one key: ${sum('transfers')} transfers in ${runs} runs, ${sum('replays')} replays, all answers equal in ${sum('equal')}`,
  );
}

/** Looking users up is limited to this in a minute while limits are raced for. */
export const raceLimit = { requests: 60, windowSeconds: 60 };

/** Many requests of one key at once at all web processes: exactly as many are allowed as the limit says. */
export async function raceForLimits(stage: Stage, { runs, parallel }: RequestRaceSize): Promise<RaceReport> {
  const race = new Race(originsOf(stage));
  const { requests } = raceLimit;
  const left = Array.from({ length: Math.min(requests, parallel) }, (_, index) => requests - 1 - index);
  const once = async (): Promise<void> => {
    const { key } = await insist(() =>
      stage.ostiary.admin.apiKeys.issue({ partner, mode: 'live', scopes: ['users:read'] }),
    );
    const answers = await race.all(parallel, async (origin) => {
      const response = await fetch(`${origin}/v1/partner/users/ana`, { headers: { 'x-api-key': key } });
      await response.arrayBuffer();
      return { status: response.status, remaining: Number(response.headers.get('x-ratelimit-remaining')) };
    });
    const lost = unavailableIn(answers);
    const passed = answers.filter(({ status }) => status === 200);
    const refused = answers.filter(({ status }) => status === 429).length;
    race.count('allowed', passed.length);
    race.count('refused', refused);
    const statuses = [...new Set(answers.map(({ status }) => status))].join(', ');
    race.expect(passed.length + refused === parallel, `answered with ${statuses}`);
    // A 503 may have been counted: whoever asked did not hear of it.
    const isExact = passed.length <= left.length && passed.length + lost >= left.length;
    race.expect(isExact, `${passed.length} of ${parallel} were allowed`);
    const said = passed.map(({ remaining }) => remaining).toSorted((a, b) => b - a);
    race.expect(new Set(said).size === said.length, 'two were told that the same number is left');
    race.expect(lost > 0 || said.join() === left.join(), `${said.join()} were left`);
  };
  return race.run(
    'partner limits',
    runs,
    once,
    (sum) =>
      `${parallel} × one key with limit ${requests}: ${sum('allowed') / runs} allowed and ${sum('refused') / runs} refused in each of ${runs} runs`,
  );
}
