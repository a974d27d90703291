import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dpopKey } from '../../../packages/core/test/support/dpop.ts';
import { authorizePath, codeFrom, RoamingBrowser } from '../../support/browser/remote-flow.ts';
import { jsonPost } from '../../support/http.ts';
import { authUrl } from '../../support/processes/cluster-options.ts';
import { engines, type Pair } from '../../support/processes/pair.ts';

const key = await dpopKey({ origin: authUrl, clock: { now: Date.now } });

describe.each(engines)('one proof at two processes on %s', (_engine, serve) => {
  const ends = new AsyncDisposableStack();
  let served: Pair;
  beforeAll(async () => {
    served = await serve(ends);
  }, 60_000);
  afterAll(() => ends.disposeAsync());

  const at = (index: number): string => served.origins[index % 2] ?? '';

  const newCode = () =>
    codeFrom(served.origins, new RoamingBrowser(authUrl, 'ana'), authorizePath(served.client));

  async function exchange(index: number, code: string, dpop: string) {
    const { id, secret, redirectUri } = served.client;
    const client = { client_id: id, client_secret: secret, redirect_uri: redirectUri };
    const request = jsonPost({ grant_type: 'authorization_code', code, ...client }, { dpop });
    const response = await fetch(`${at(index)}/v1/oauth/token`, request);
    return { status: response.status, json: (await response.json()) as Record<string, unknown> };
  }

  it('gives one token, however many codes are exchanged with it at once', async () => {
    const codes: string[] = [];
    while (codes.length < 10) codes.push(await newCode());
    const { dpop } = await key.forToken();
    const answers = await Promise.all(codes.map((code, index) => exchange(index, code, dpop)));
    const refused = answers.filter(({ status }) => status === 400).map(({ json }) => json.error);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(refused).toEqual(codes.slice(1).map(() => 'invalid_dpop_proof'));
  });

  it('opens userinfo once, however often it is sent at once', async () => {
    const { json } = await exchange(0, await newCode(), (await key.forToken()).dpop);
    for (let round = 0; round < 5; round += 1) {
      const headers = await key.forResource(json.access_token);
      const statuses = await Promise.all(
        Array.from({ length: 20 }, async (_unused, index) => {
          const response = await fetch(`${at(index)}/v1/oauth/userinfo`, { headers });
          await response.arrayBuffer();
          return response.status;
        }),
      );
      expect(statuses.filter((status) => status === 200)).toHaveLength(1);
      expect(statuses.filter((status) => status === 401)).toHaveLength(19);
    }
  });
});
