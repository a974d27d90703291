import {
  authorizePath,
  codeFrom,
  exchangeAt,
  RoamingBrowser,
  userinfoStatusAt,
} from '../../support/browser/remote-flow.ts';
import { jsonPost } from '../../support/http.ts';
import { authUrl, partner, usersLimit } from '../../support/processes/cluster-options.ts';
import type { Stage } from '../../support/processes/stage.ts';
import type { Claim } from '../../support/proof.ts';
import { retry } from '../../support/retry.ts';
import { atOnce, race, unavailableIn } from './race.ts';

/** Number of runs, and of concurrent calls in each run. */
type Size = Readonly<Record<'runs' | 'parallel', number>>;

const originsOf = ({ cluster }: Stage): string[] => cluster.webs.map(({ origin }) => origin);

async function countOf({ server }: Stage, sql: string, values: readonly unknown[] = []): Promise<number> {
  const { rows } = await server.app.query<{ count: number }>(
    `SELECT count(*)::integer AS count FROM ${sql}`,
    [...values],
  );
  return rows[0]?.count ?? 0;
}

/**
 * Exchanges one authorization code many times at once at all web processes: one access token is issued, and
 * the repeated exchanges revoke the token.
 */
export function raceForCodes(stage: Stage, { runs, parallel }: Size): Promise<Claim> {
  const { client } = stage;
  const origins = originsOf(stage);
  return race('authorization codes', runs, async (expect) => {
    const code = await retry(() =>
      codeFrom(origins, new RoamingBrowser(authUrl, 'ana'), authorizePath(client)),
    );
    const answers = await atOnce(parallel, origins, (origin) => exchangeAt(origin, client, code));
    const won = answers.filter(({ status }) => status === 200);
    // If the winner got a 503, its repeated request is a replay, which revokes the token.
    const isLost = won.length === 0 && unavailableIn(answers) > 0;
    expect(won.length === 1 || isLost, `${won.length} winners`);
    const others = answers.filter(({ status, json }) => status !== 400 || json.error !== 'invalid_grant');
    expect(others.length === won.length, JSON.stringify(others.map(({ json }) => json)));
    for (const { json } of won) {
      const token = String(json.access_token);
      const statuses = await Promise.all(origins.map((origin) => userinfoStatusAt(origin, token)));
      expect(new Set(statuses).has(401) && new Set(statuses).size === 1, `its token: ${statuses}`);
    }
    // Counts tokens that are not revoked, of grants that are not revoked.
    const living = await countOf(
      stage,
      `ostiary.access_tokens JOIN ostiary.grants ON grants.id = grant_id
       WHERE access_tokens.revoked_at IS NULL AND grants.revoked_at IS NULL`,
    );
    expect(living === 0, `${living} tokens live in the database`);
    return { redemptions: parallel, winners: won.length };
  });
}

/**
 * Uses one refresh token many times at once at all web processes. All requests get the same new refresh
 * token, and every access token is valid. Once the new refresh token was used, another use of the old one is
 * refused and revokes the whole grant, with all its refresh tokens and access tokens.
 */
export function raceForRefreshTokens(stage: Stage, { runs, parallel }: Size): Promise<Claim> {
  const { client } = stage;
  const origins = originsOf(stage);
  const path = authorizePath(client, { scope: 'openid offline_access' });
  const refreshAt = async (origin: string, refresh_token: unknown) => {
    const credentials = { client_id: client.id, client_secret: client.secret };
    const request = jsonPost({ grant_type: 'refresh_token', refresh_token, ...credentials });
    const response = await fetch(`${origin}/v1/oauth/token`, request);
    return { status: response.status, json: await response.json() };
  };
  return race('refresh tokens', runs, async (expect) => {
    const { json } = await retry(async () =>
      exchangeAt(origins[0] ?? '', client, await codeFrom(origins, new RoamingBrowser(authUrl, 'ana'), path)),
    );
    const answers = await atOnce(parallel, origins, (origin) => refreshAt(origin, json.refresh_token));
    const won = answers.filter(({ status }) => status === 200);
    expect(won.length === parallel, `${won.length} of ${parallel} were answered`);
    const successors = new Set(won.map((answer) => answer.json.refresh_token));
    expect(won.length === 0 || successors.size === 1, `${successors.size} successors`);
    const accessTokens = [json, ...won.map((answer) => answer.json)].map(({ access_token }) =>
      String(access_token),
    );
    const statuses = await Promise.all(
      accessTokens.map((token, index) => userinfoStatusAt(origins[index % origins.length] ?? '', token)),
    );
    expect(
      statuses.every((status) => status === 200),
      `their access tokens: ${statuses}`,
    );

    const [successor = json.refresh_token] = successors;
    const next = await retry(() => refreshAt(origins[0] ?? '', successor));
    expect(next.status === 200, `the successor: ${next.status}`);
    const replay = await retry(() => refreshAt(origins.at(-1) ?? '', json.refresh_token));
    expect(replay.status === 400, `a use after that of the successor: ${replay.status}`);
    const living = await countOf(
      stage,
      `ostiary.refresh_tokens JOIN ostiary.grants ON grants.id = grant_id
       WHERE replaced_at IS NULL AND grants.revoked_at IS NULL`,
    );
    expect(living === 0, `${living} refresh tokens live in the database`);
    return { uses: parallel, answered: won.length };
  });
}

/**
 * Sends one payment many times at once to all web processes with the same idempotency key: one transfer is
 * created, and all requests get the same response.
 */
export function raceForTransfers(stage: Stage, { runs, parallel }: Size): Promise<Claim> {
  return race('idempotency keys', runs, async (expect, run) => {
    const description = `race ${run}`;
    const request = jsonPost(
      { amount: '1.00', currency: 'USD', recipient: { kid: 'ana' }, description },
      { 'x-api-key': stage.keys.live, 'idempotency-key': `key of ${description}` },
    );
    const answers = await atOnce(parallel, originsOf(stage), async (origin) => {
      const response = await fetch(`${origin}/v1/partner/payments`, request);
      const isReplay = response.headers.get('idempotent-replayed') === 'true';
      return { status: response.status, isReplay, text: await response.text() };
    });
    const distinct = new Set(answers.map(({ status, text }) => `${status} ${text}`));
    expect(distinct.size === 1 && answers[0]?.status === 201, [...distinct].join(' | '));
    const replays = answers.filter(({ isReplay }) => isReplay).length;
    // The request that made the transfer may be one that got a 503.
    const isFirstUnheard = replays === parallel && unavailableIn(answers) > 0;
    expect(replays === parallel - 1 || isFirstUnheard, `${replays} replays`);
    const transfers = await countOf(stage, 'ostiary.transfers WHERE description = $1', [description]);
    expect(transfers === 1, `${transfers} transfers`);
    return { requests: parallel, transfers, replays };
  });
}

/**
 * Sends many requests of one API key at once to all web processes: exactly as many requests are allowed as
 * the rate limit permits.
 */
export function raceForLimits(stage: Stage, { runs, parallel }: Size): Promise<Claim> {
  const { requests } = usersLimit;
  const left = Array.from({ length: Math.min(requests, parallel) }, (_, index) => requests - 1 - index);
  return race('partner limits', runs, async (expect) => {
    const { key } = await retry(() =>
      stage.ostiary.admin.apiKeys.issue({ partner, mode: 'live', scopes: ['users:read'] }),
    );
    const answers = await atOnce(parallel, originsOf(stage), async (origin) => {
      const response = await fetch(`${origin}/v1/partner/users/ana`, { headers: { 'x-api-key': key } });
      await response.arrayBuffer();
      return { status: response.status, remaining: Number(response.headers.get('x-ratelimit-remaining')) };
    });
    const lost = unavailableIn(answers);
    const passed = answers.filter(({ status }) => status === 200);
    const refused = answers.filter(({ status }) => status === 429).length;
    const statuses = [...new Set(answers.map(({ status }) => status))].join(', ');
    expect(passed.length + refused === parallel, `answered with ${statuses}`);
    // A request that got a 503 may have been counted.
    const isExact = passed.length <= left.length && passed.length + lost >= left.length;
    expect(isExact, `${passed.length} of ${parallel} were allowed`);
    const said = passed.map(({ remaining }) => remaining).toSorted((a, b) => b - a);
    expect(new Set(said).size === said.length, 'two were told that the same number is left');
    expect(lost > 0 || said.join() === left.join(), `${said.join()} were left`);
    return { allowed: passed.length, refused };
  });
}
