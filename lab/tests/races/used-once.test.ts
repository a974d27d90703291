import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  assertionOf,
  type ClientKey,
  clientKey,
  withAssertion,
} from '../../../packages/core/test/support/client-keys.ts';
import {
  authorizePath,
  codeFrom,
  exchangeAt,
  type RemoteClient,
  RoamingBrowser,
} from '../../support/browser/remote-flow.ts';
import { jsonPost } from '../../support/http.ts';
import { authUrl } from '../../support/processes/cluster-options.ts';
import { engines, type Pair } from '../../support/processes/pair.ts';

const rounds = 10;
const issuer = { origin: authUrl, clock: { now: () => Date.now() } };

describe.each(engines)('two processes on %s', (engine, serve) => {
  const ends = new AsyncDisposableStack();
  let served: Pair;
  let key: ClientKey;
  let client: RemoteClient;
  beforeAll(async () => {
    served = await serve(ends);
    key = await clientKey();
    const registered = await served.ostiary.admin.clients.create({
      name: 'App with a key',
      ...{ redirectUris: ['https://app.example/callback'], allowedScopes: ['openid'] },
      jwks: { keys: [key.publicJwk] },
    });
    client = { ...served.client, id: registered.client.clientId };
  }, 60_000);
  afterAll(() => ends.disposeAsync());

  const at = (index: number): string => served.origins[index % 2] ?? '';
  const assertion = async () => withAssertion(await assertionOf(issuer, client, key));

  async function push(index: number): Promise<string> {
    const parameters = {
      ...Object.fromEntries(new URLSearchParams(authorizePath(client).replace(/^.*\?/, ''))),
      ...(await assertion()),
    };
    const response = await fetch(`${at(index)}/v1/oauth/par`, jsonPost(parameters));
    expect(response.status).toBe(201);
    return String(Object(await response.json()).request_uri);
  }

  it('accept one of two presentations of an assertion', async () => {
    const browser = new RoamingBrowser(authUrl, `${engine}-ana`);
    for (let round = 0; round < rounds; round += 1) {
      const codes: string[] = [];
      for (let index = 0; index < 4; index += 1)
        codes.push(await codeFrom([at(index)], browser, authorizePath(client)));
      const one = await assertion();
      const answers = await Promise.all(codes.map((code, index) => exchangeAt(at(index), client, code, one)));
      expect(answers.map(({ status }) => status).sort(), `round ${round}`).toEqual([200, 401, 401, 401]);
    }
  });

  it('accept one of two uses of a request that was pushed at either', async () => {
    const browser = new RoamingBrowser(authUrl, `${engine}-ben`);
    await codeFrom(served.origins, browser, authorizePath(client));
    for (let round = 0; round < rounds; round += 1) {
      const path = `/oauth/authorize?${new URLSearchParams({ client_id: client.id, request_uri: await push(round) })}`;
      const answers = await Promise.all(
        [0, 1, 2, 3].map((index) => new RoamingBrowser(authUrl, `${engine}-ben`).visit(at(index), path)),
      );
      const codes = answers.filter(({ location }) => location.includes('code='));
      expect(codes, `round ${round}`).toHaveLength(1);
      expect(answers.filter(({ status }) => status === 400)).toHaveLength(3);
      const code = new URL(codes[0]?.location ?? '').searchParams.get('code') ?? '';
      expect((await exchangeAt(at(round), client, code, await assertion())).status).toBe(200);
    }
  });

  it('serve one pushed request together', async () => {
    const browser = new RoamingBrowser(authUrl, `${engine}-eva`);
    const path = `/oauth/authorize?${new URLSearchParams({ client_id: client.id, request_uri: await push(0) })}`;
    const code = await codeFrom([at(1), at(0)], browser, path);
    expect((await exchangeAt(at(1), client, code, await assertion())).status).toBe(200);
  });
});
