import { describe, expect, it } from 'vitest';
import type { OstiaryOptions } from '../../src/index.ts';
import { allowedScopes } from '../support/refreshing.ts';
import { startProvider } from '../support/running.ts';

/**
 * Starts a provider with the given limits, or with the default limits. Returns functions that sign a user in
 * and refresh from an IP address.
 */
async function start(limits: OstiaryOptions['limits'] = {}) {
  const provider = await startProvider({ refreshTokens: {}, trustedProxies: ['127.0.0.0/8'], limits });
  const client = await provider.client({ allowedScopes });
  const connect = async () =>
    String((await provider.tokens(client, { scope: 'openid offline_access' })).refresh_token);
  const refresh = (token: unknown, address = '192.0.2.1') => {
    const credentials = { client_id: client.id, client_secret: client.secret };
    const request = { grant_type: 'refresh_token', refresh_token: token, ...credentials };
    return provider.call('/v1/oauth/token', request, { 'x-forwarded-for': address });
  };
  return { provider, client, connect, refresh };
}

const outcomes = (answers: readonly { readonly outcome: string }[]) => answers.map(({ outcome }) => outcome);

describe('refreshes of one sign-in', () => {
  it('are refused from the 61st in a minute on, from every address, with Retry-After, and end nothing', async () => {
    const { provider, connect, refresh } = await start();
    let token: unknown = await connect();
    const sibling = await connect();
    for (let use = 0; use < 60; use += 1) {
      const answer = await refresh(token, `192.0.2.${use}`);
      expect(answer.outcome).toBe('200 ok');
      token = answer.json().refresh_token;
    }
    provider.clock.advance(20_001);
    const refused = await refresh(token, '198.51.100.1');
    expect([refused.outcome, refused.headers.get('retry-after')]).toEqual(['429 slow_down', '40']);
    expect((await refresh(sibling)).outcome).toBe('200 ok');
    provider.clock.advance(39_999);
    expect((await refresh(token)).outcome).toBe('200 ok');
  });

  it('are counted before their work: of 200 at once 60 succeed, and the others read no user', async () => {
    const { provider, connect, refresh } = await start();
    const token = await connect();
    const { people } = provider.host;
    let found = 0;
    const { get } = people;
    people.get = (sub) => {
      found += 1;
      return get.call(people, sub);
    };
    const answers = outcomes(await Promise.all(Array.from({ length: 200 }, () => refresh(token))));
    expect(answers.filter((outcome) => outcome === '200 ok')).toHaveLength(60);
    expect(answers.filter((outcome) => outcome === '429 slow_down')).toHaveLength(140);
    expect(found).toBe(60);
  });

  it('that are refused for any other reason count as well', async () => {
    const { connect, refresh, provider } = await start({ refreshesPerGrant: 2 });
    const token = await connect();
    provider.host.people.clear();
    const answers = [await refresh(token), await refresh(token), await refresh(token)];
    expect(outcomes(answers)).toEqual(['400 invalid_grant', '400 invalid_grant', '429 slow_down']);
  });
});

describe('refreshes of one address', () => {
  it('share one limit for all their tokens', async () => {
    const { provider, connect, refresh } = await start({ refreshes: 3 });
    const [token, other] = [await connect(), await connect()];
    const unknown = `svc_rt_${'a'.repeat(43)}`;
    const answers = [await refresh(token), await refresh(unknown), await refresh('x'), await refresh(other)];
    expect(outcomes(answers)).toEqual(['200 ok', '400 invalid_grant', '400 invalid_grant', '429 slow_down']);
    expect(answers[3]?.headers.get('retry-after')).toBe('60');
    expect((await refresh(other, '192.0.2.2')).outcome).toBe('200 ok');
    provider.clock.advance(60_000);
    expect((await refresh(unknown)).outcome).toBe('400 invalid_grant');
  });
});

it('a replaced token revokes its sign-in long after its row was removed, and so does its revocation', async () => {
  const { provider, client, connect, refresh } = await start();
  const first = await connect();
  let latest = (await refresh(first)).json();
  const hour = 3_600_000;
  for (let use = 0; use < 100; use += 1) {
    provider.clock.advance(hour);
    latest = (await refresh(latest.refresh_token)).json();
  }
  expect(await provider.isAlive(latest.access_token)).toBe(true);
  expect((await refresh(first)).outcome).toBe('400 invalid_grant');
  expect(await provider.isAlive(latest.access_token)).toBe(false);
  expect((await refresh(latest.refresh_token)).outcome).toBe('400 invalid_grant');

  const another = String((await provider.tokens(client, { scope: 'openid offline_access' })).refresh_token);
  let token: unknown = another;
  for (let use = 0; use < 3; use += 1) token = (await refresh(token)).json().refresh_token;
  expect((await provider.revoke(another)).json()).toEqual({ ok: true });
  expect((await refresh(token)).outcome).toBe('400 invalid_grant');
});
