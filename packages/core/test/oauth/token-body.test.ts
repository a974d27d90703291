import { describe, expect, it } from 'vitest';
import { basic, tokenRequest } from '../support/provider.ts';
import { startProvider } from '../support/running.ts';

/** One way to write a token request: a dialect, and where the client's credentials stand. */
interface Dialect {
  readonly type: 'application/json' | 'application/x-www-form-urlencoded';
  readonly basic: boolean;
}

const dialects: readonly (readonly [string, Dialect])[] = [
  ['JSON', { type: 'application/json', basic: false }],
  ['JSON with Basic', { type: 'application/json', basic: true }],
  ['a form', { type: 'application/x-www-form-urlencoded', basic: false }],
  ['a form with Basic', { type: 'application/x-www-form-urlencoded', basic: true }],
];

/** What a caller may say that it would rather read. */
const otherTypes = [
  'text/html',
  'text/html;q=1, application/json;q=0',
  '*/*',
  'image/png',
  '*/*;q=0',
  ';',
  '"',
];

const provider = await startProvider();
const client = await provider.client();
const json = { 'content-type': 'application/json; charset=utf-8' };

async function right(): Promise<Record<string, string>> {
  const { client_id: _, client_secret: __, ...grant } = tokenRequest(client, await provider.code(client));
  return grant;
}

function send(
  { type, basic: inHeader }: Dialect,
  parameters: Record<string, string>,
  headers: Record<string, string> = {},
) {
  const credentials = { client_id: client.id, client_secret: client.secret ?? '' };
  const all = inHeader ? parameters : { ...credentials, ...parameters };
  return provider.call(
    '/v1/oauth/token',
    type === 'application/json' ? JSON.stringify(all) : new URLSearchParams(all).toString(),
    {
      'content-type': type,
      ...(inHeader ? { authorization: basic(client.id, client.secret) } : {}),
      ...headers,
    },
  );
}

describe.each(dialects)('the token endpoint, asked in %s', (_name, dialect) => {
  it('exchanges a code', async () => {
    const answer = await send(dialect, await right());
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
        const answer = await send(dialect, parameters, { accept });
        expect(answer.status).toBe(status);
        const unstored = { ...json, 'cache-control': 'no-store', pragma: 'no-cache' };
        expect(Object.fromEntries(answer.headers)).toMatchObject(unstored);
      }
    },
  );

  it.each(['grant_type', 'code', 'redirect_uri'])('names a missing or empty %s', async (name) => {
    const parameters = await right();
    for (const changed of [
      Object.fromEntries(Object.entries(parameters).filter(([key]) => key !== name)),
      { ...parameters, [name]: '' },
    ]) {
      const answer = await send(dialect, changed);
      expect(answer.status).toBe(400);
      expect(answer.json()).toEqual({
        error: 'invalid_request',
        error_description: `The parameter ${name} is missing.`,
      });
    }
    expect((await send(dialect, parameters)).status).toBe(200);
  });

  it.each([
    'refresh_token',
    'client_credentials',
    'password',
    'AUTHORIZATION_CODE',
    'urn:ietf:params:oauth:grant-type:jwt-bearer',
  ])('refuses the grant type %s', async (grant_type) => {
    const answer = await send(dialect, { ...(await right()), grant_type });
    expect(answer.outcome).toBe('400 unsupported_grant_type');
  });

  it('ignores parameters that it does not know', async () => {
    const more = { scope: 'kyc', resource: 'https://x.example', future: '1' };
    expect((await send(dialect, { ...(await right()), ...more })).status).toBe(200);
  });

  it.each(['; charset=utf-8', '; charset="UTF-8"', '; v=1; charset=utf-8', ''])(
    'accepts the media type with %j, whatever its case',
    async (parameter) => {
      const type = { 'content-type': dialect.type.toUpperCase() + parameter };
      expect((await send(dialect, await right(), type)).status).toBe(200);
    },
  );
});

describe('a body that cannot be meant', () => {
  const refused = (error_description: string) => ({ error: 'invalid_request', error_description });
  const type = { 'content-type': 'application/x-www-form-urlencoded' };

  it.each(['["a"]', '1', '0.5', 'null', 'false', '{"nested":true}'])(
    'is one with %s for a string, also where nobody would read it',
    async (value) => {
      const body = tokenRequest(client, await provider.code(client));
      for (const name of ['redirect_uri', 'future']) {
        const { [name]: _, ...others } = body;
        const text = `${JSON.stringify(others).slice(0, -1)},"${name}":${value}}`;
        const answer = await provider.call('/v1/oauth/token', text);
        expect([answer.status, answer.json()]).toEqual([
          400,
          refused(`The member ${name} has to be a string.`),
        ]);
      }
      expect((await provider.call('/v1/oauth/token', body)).status).toBe(200);
    },
  );

  it('is one that says something twice, also where it is spelled with an escape', async () => {
    const right = tokenRequest(client, await provider.code(client));
    const body = JSON.stringify(right);
    for (const extra of ['"client_id":"other"', '"client_\\u0069d":"other"']) {
      const answer = await provider.call('/v1/oauth/token', `${body.slice(0, -1)},${extra}}`);
      expect([answer.status, answer.json()]).toEqual([400, refused('A member name is given twice.')]);
    }
    const form = new URLSearchParams(right);
    const answer = await provider.call('/v1/oauth/token', `${form}&code=another`, type);
    expect([answer.status, answer.json()]).toEqual([400, refused('The parameter code is given twice.')]);
    expect((await provider.call('/v1/oauth/token', form)).status).toBe(200);
  });
});
