import { describe, expect, it } from 'vitest';
import { basic, tokenRequest } from '../support/provider.ts';
import { startProvider } from '../support/running.ts';

const provider = await startProvider();
const client = await provider.client();
const credentials = { client_id: client.id, client_secret: client.secret ?? '' };

async function right(): Promise<Record<string, string>> {
  const { client_id: _, client_secret: __, ...grant } = tokenRequest(client, await provider.code(client));
  return grant;
}

const form = 'application/x-www-form-urlencoded';
/** Values of the header `Accept` that do not ask for JSON, or are malformed. */
const otherTypes = ['text/html', 'text/html;q=1, application/json;q=0', 'image/png', '*/*;q=0', ';', '"'];

describe.each([
  ['JSON', 'application/json', false],
  ['JSON with Basic', 'application/json', true],
  ['a form', form, false],
  ['a form with Basic', form, true],
])('the token endpoint, asked in %s', (_name, type, inHeader) => {
  function send(parameters: Record<string, string>, headers: Record<string, string> = {}) {
    const all = inHeader ? parameters : { ...credentials, ...parameters };
    const body = type === form ? String(new URLSearchParams(all)) : JSON.stringify(all);
    const authorization = inHeader ? { authorization: basic(client.id, client.secret) } : {};
    return provider.call('/v1/oauth/token', body, { 'content-type': type, ...authorization, ...headers });
  }

  it('exchanges a code, and ignores additional parameters', async () => {
    const more = { scope: 'kyc', resource: 'https://x.example', future: '1' };
    const answer = await send({ ...(await right()), ...more });
    expect(answer.json()).toEqual({
      access_token: expect.any(String),
      id_token: expect.any(String),
      token_type: 'Bearer',
      expires_in: 3600,
      scope: 'openid',
    });
  });

  it.each([...otherTypes, `text/html;q="${'\\'.repeat(4000)}`])(
    'answers JSON to Accept: %s',
    async (accept) => {
      for (const [parameters, status] of [
        [await right(), 200],
        [{}, 400],
      ] as const) {
        const answer = await send(parameters, { accept });
        expect(answer.status).toBe(status);
        expect(Object.fromEntries(answer.headers)).toMatchObject({
          'content-type': 'application/json; charset=utf-8',
          'cache-control': 'no-store',
          pragma: 'no-cache',
        });
      }
    },
  );

  it.each(['grant_type', 'code', 'redirect_uri'])('names a missing or empty %s', async (name) => {
    const parameters = await right();
    const { [name]: _, ...others } = parameters;
    for (const changed of [others, { ...parameters, [name]: '' }]) {
      const answer = await send(changed);
      expect(answer.outcome).toBe('400 invalid_request');
      expect(answer.json().error_description).toBe(`The parameter ${name} is missing.`);
    }
    expect((await send(parameters)).status).toBe(200);
  });

  it('refuses other grant types', async () => {
    const others = ['refresh_token', 'client_credentials', 'password', 'AUTHORIZATION_CODE'];
    for (const grant_type of [...others, 'urn:ietf:params:oauth:grant-type:jwt-bearer'])
      expect((await send({ ...(await right()), grant_type })).outcome).toBe('400 unsupported_grant_type');
  });

  it.each(['; charset=utf-8', '; charset="UTF-8"', '; v=1; charset=utf-8', ''])(
    'accepts the media type with %j, whatever its case',
    async (parameter) => {
      const answer = await send(await right(), { 'content-type': type.toUpperCase() + parameter });
      expect(answer.status).toBe(200);
    },
  );
});

it('a body with values other than strings, or with repeated parameters, gets an error that says so and does not use up the code', async () => {
  const body = tokenRequest(client, await provider.code(client));
  const expectRefusal = async (sent: string, error_description: string, type = 'application/json') => {
    const answer = await provider.call('/v1/oauth/token', sent, { 'content-type': type });
    expect([answer.status, answer.json()]).toEqual([400, { error: 'invalid_request', error_description }]);
  };
  const withMember = (others: object, member: string) => `${JSON.stringify(others).slice(0, -1)},${member}}`;
  for (const value of ['["a"]', '1', '0.5', 'null', 'false', '{"nested":true}']) {
    const others = { ...body, redirect_uri: undefined };
    await expectRefusal(
      withMember(others, `"redirect_uri":${value}`),
      'The member redirect_uri has to be a string.',
    );
  }
  for (const name of ['client_id', 'client_\\u0069d'])
    await expectRefusal(withMember(body, `"${name}":"other"`), 'The member client_id is given twice.');
  const unstorable = 'A string holds U+0000 or a lone surrogate.';
  for (const text of ['\\u0000', '\\ud800'])
    await expectRefusal(withMember({ ...body, code: undefined }, `"code":"${text}"`), unstorable);
  const twice = `${new URLSearchParams(body)}&code=another`;
  await expectRefusal(twice, 'The parameter code is given twice.', form);
  expect((await provider.call('/v1/oauth/token', body)).status).toBe(200);
});

describe('unknown parameters are ignored', () => {
  const values = ['null', '1', '["a","b"]', '{"code":"x","code":"y"}', '"\\u0000"', '"a:\\"b"', '"\\ud800"'];
  const members = [...values.map((value) => `"resource":${value}`), '"resource":"a","resource":"b"'];
  const deep = `"resource":${'['.repeat(1000)}${']'.repeat(1000)}`;
  const json = [...members, deep, '"__proto__":{"code":"x"}', '"__proto__":"a","__proto__":"b"'];
  const pairs = ['resource=a&resource=b', 'resource=%ff', '%ff=a&%ff=b', 'resource=%00', '=a&=b'];
  const bodies = [
    ...json.map((text) => ({ type: 'application/json', text, name: text.slice(0, 40) })),
    ...pairs.map((text) => ({ type: form, text, name: text })),
  ];

  it.each(bodies)('in $type: $name', async ({ type, text }) => {
    const withIt = (parameters: Record<string, string>) =>
      type === form
        ? `${text}&${new URLSearchParams(parameters)}`
        : `{${text},${JSON.stringify(parameters).slice(1)}`;
    const send = (path: string, parameters: Record<string, string>) =>
      provider.call(path, withIt(parameters), { 'content-type': type });
    const token = await send('/v1/oauth/token', { ...credentials, ...(await right()) });
    expect(token.outcome).toBe('200 ok');
    const { access_token } = token.json();
    const userinfo = await send('/v1/oauth/userinfo', { access_token: String(access_token) });
    expect(userinfo.outcome).toBe('200 ok');
    expect((await send('/v1/oauth/revoke', { token: String(access_token) })).outcome).toBe('200 ok');
    expect(await provider.isAlive(access_token)).toBe(false);
  });
});
