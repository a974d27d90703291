import { describe, expect, it } from 'vitest';
import { basic, type TestClient, tokenRequest } from '../support/provider.ts';
import { startProvider } from '../support/running.ts';

const provider = await startProvider();

describe('HTTP Basic', () => {
  const percent = (text: string) =>
    [...text].map((letter) => `%${letter.charCodeAt(0).toString(16)}`).join('');
  const send = async (client: TestClient, authorization: string, extra: Record<string, string> = {}) => {
    const { client_id: _, client_secret: __, ...grant } = tokenRequest(client, await provider.code(client));
    const body = new URLSearchParams({ ...grant, ...extra });
    return (await provider.call('/v1/oauth/token', body, { authorization })).outcome;
  };

  it.each([
    ['as it is', (text: string) => text],
    ['form-encoded, as RFC 6749 asks', (text: string) => encodeURIComponent(text)],
    ['with every character percent-encoded', percent],
  ])('takes id and secret %s', async (_name, encode) => {
    const client = await provider.client({ clientId: `Client_-${Math.random().toString(36).slice(2)}` });
    expect(await send(client, basic(encode(client.id), encode(client.secret ?? '')))).toBe('200 ok');
  });

  it('accepts the scheme in upper or lower case, and the same client_id in the body, but neither a secret nor another client_id', async () => {
    const client = await provider.client();
    const other = await provider.client();
    const authorization = basic(client.id, client.secret).replace('Basic ', 'bAsIc   ');
    expect(await send(client, authorization, { client_id: client.id, client_secret: '' })).toBe('200 ok');
    const secrets = [client.secret ?? '', 'wrong'].map((client_secret) => ({ client_secret }));
    const others = ['', other.secret ?? ''].map((client_secret) => ({ client_id: other.id, client_secret }));
    for (const extra of [...secrets, ...others])
      expect(await send(client, authorization, extra)).toBe('400 invalid_request');
  });
});

it.each([
  ['an access token', 'Bearer svc_at_stale'],
  ['what a proxy has added', 'Negotiate YII='],
  ['a token of another kind', 'Token abc'],
  ['what a script has made of nothing', 'undefined'],
  ['an empty value', ''],
  ['Basic without a name and a password', basic('', '')],
])(
  '%s in the Authorization header is ignored where the body names the client',
  async (_what, authorization) => {
    const client = await provider.client();
    const code = await provider.code(client);
    const send = (body: object) => provider.call('/v1/oauth/token', body, { authorization });
    const wrong = await send({ ...tokenRequest(client, code), client_secret: 'wrong' });
    expect([wrong.outcome, wrong.headers.get('www-authenticate')]).toEqual(['401 invalid_client', null]);
    expect((await send(tokenRequest(client, code))).outcome).toBe('200 ok');
    const anonymous = { grant_type: 'authorization_code', code, redirect_uri: client.redirectUri };
    expect((await send(anonymous)).outcome).toBe('401 invalid_client');
  },
);
