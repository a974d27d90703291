import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { generousLimits, type TestClient, TestProvider } from '../support/provider.ts';

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

let provider: TestProvider;
let client: TestClient;

beforeAll(async () => {
  provider = await TestProvider.start({ limits: generousLimits });
  client = await provider.client();
});
afterAll(() => provider.stop());

async function right(): Promise<Record<string, string>> {
  return {
    grant_type: 'authorization_code',
    code: await provider.code(client),
    redirect_uri: client.redirectUri,
  };
}

function send(
  { type, basic }: Dialect,
  parameters: Record<string, string>,
  headers: Record<string, string> = {},
) {
  const credentials = { client_id: client.id, client_secret: client.secret ?? '' };
  const all = basic ? parameters : { ...credentials, ...parameters };
  const authorization = `Basic ${btoa(`${client.id}:${client.secret}`)}`;
  return provider.call(
    '/v1/oauth/token',
    type === 'application/json' ? JSON.stringify(all) : new URLSearchParams(all).toString(),
    {
      'content-type': type,
      ...(basic ? { authorization } : {}),
      ...headers,
    },
  );
}

describe.each(dialects)('the token endpoint, asked in %s', (_name, dialect) => {
  it('exchanges a code', async () => {
    const answer = await send(dialect, await right());
    expect(answer.status).toBe(200);
    expect(Object.keys(answer.json()).toSorted()).toEqual([
      'access_token',
      'expires_in',
      'id_token',
      'scope',
      'token_type',
    ]);
  });

  it.each(['text/html', 'text/html;q=1, application/json;q=0', '*/*', 'image/png'])(
    'answers JSON to Accept: %s',
    async (accept) => {
      for (const [parameters, status] of [
        [await right(), 200],
        [{}, 400],
      ] as const) {
        const answer = await send(dialect, parameters, { accept });
        expect(answer.status).toBe(status);
        expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
        expect(answer.headers.get('cache-control')).toBe('no-store');
        expect(answer.headers.get('pragma')).toBe('no-cache');
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
    expect([answer.status, answer.json().error]).toEqual([400, 'unsupported_grant_type']);
  });

  it('ignores parameters that it does not know', async () => {
    expect(
      (await send(dialect, { ...(await right()), scope: 'kyc', resource: 'https://x.example', future: '1' }))
        .status,
    ).toBe(200);
  });

  it.each(['charset=utf-8', 'charset="UTF-8"', 'v=1; charset=utf-8'])(
    'accepts the media type with %s',
    async (parameter) => {
      const answer = await send(dialect, await right(), { 'content-type': `${dialect.type}; ${parameter}` });
      expect(answer.status).toBe(200);
    },
  );

  it('reads the media type whatever its case', async () => {
    expect((await send(dialect, await right(), { 'content-type': dialect.type.toUpperCase() })).status).toBe(
      200,
    );
  });
});

describe('a JSON body', () => {
  const post = (text: string) => provider.call('/v1/oauth/token', text);

  it.each([
    ['an array', '["a"]'],
    ['a number', '1'],
    ['0.5', '0.5'],
    ['null', 'null'],
    ['false', 'false'],
  ])('whose code is %s is refused', async (_name, value) => {
    const { code: _, ...rest } = await right();
    const others = JSON.stringify({ ...rest, client_id: client.id, client_secret: client.secret });
    const answer = await post(`${others.slice(0, -1)},"code":${value}}`);
    expect(answer.status).toBe(400);
    expect(answer.json()).toEqual({
      error: 'invalid_request',
      error_description: 'The member code has to be a string.',
    });
  });

  it('is refused for a member that is no string even where nobody would read it', async () => {
    const body = { ...(await right()), client_id: client.id, client_secret: client.secret };
    expect((await provider.call('/v1/oauth/token', { ...body, future: { nested: true } })).json().error).toBe(
      'invalid_request',
    );
    expect((await provider.call('/v1/oauth/token', body)).status).toBe(200);
  });

  it.each([
    '[]',
    '[{"grant_type":"authorization_code"}]',
    '"text"',
    '5',
    'null',
    'true',
    '',
    '{',
    '{"a":}',
    "{'a':'b'}",
    '{"a":"b"} {}',
    '\ufeff{}',
  ])('that is %j and no object is invalid_request', async (text) => {
    const answer = await post(text);
    expect([answer.status, answer.json().error]).toEqual([400, 'invalid_request']);
  });

  it('with a duplicate key is refused, also when it is spelled with an escape', async () => {
    const body = JSON.stringify({ ...(await right()), client_id: client.id, client_secret: client.secret });
    for (const extra of ['"client_id":"other"', '"client_\\u0069d":"other"']) {
      const answer = await post(`${body.slice(0, -1)},${extra}}`);
      expect(answer.status).toBe(400);
      expect(answer.json()).toEqual({
        error: 'invalid_request',
        error_description: 'A member name is given twice.',
      });
    }
    expect((await post(body)).status).toBe(200);
  });
});

describe('a form body', () => {
  it('with a parameter twice is refused', async () => {
    const form = new URLSearchParams({
      ...(await right()),
      client_id: client.id,
      client_secret: client.secret ?? '',
    });
    const answer = await provider.call('/v1/oauth/token', `${form}&code=another`, {
      'content-type': 'application/x-www-form-urlencoded',
    });
    expect(answer.json()).toEqual({
      error: 'invalid_request',
      error_description: 'The parameter code is given twice.',
    });
    expect(answer.status).toBe(400);
    expect((await provider.call('/v1/oauth/token', form)).status).toBe(200);
  });

  it.each(['code=%zz', 'code=%ff', 'code=%00', '%ff=a'])('with %s is refused', async (form) => {
    const answer = await provider.call('/v1/oauth/token', form, {
      'content-type': 'application/x-www-form-urlencoded',
    });
    expect([answer.status, answer.json().error]).toEqual([400, 'invalid_request']);
  });
});

describe('another media type or encoding', () => {
  it.each([
    { 'content-type': 'text/plain' },
    { 'content-type': 'multipart/form-data; boundary=x' },
    { 'content-type': 'application/jsonp' },
    { 'content-type': '' },
  ])('%j is 415', async (headers) => {
    const answer = await provider.call('/v1/oauth/token', '{}', headers);
    expect([answer.status, answer.json().error]).toEqual([415, 'invalid_request']);
  });

  it('a compressed body is 415, whatever is in it', async () => {
    const answer = await provider.call('/v1/oauth/token', '{}', { 'content-encoding': 'gzip' });
    expect([answer.status, answer.json().error]).toEqual([415, 'invalid_request']);
  });

  it('a body of more than 64 KiB is 413', async () => {
    const fits = JSON.stringify({ code: 'a'.repeat(64 * 1024 - '{"code":""}'.length) });
    expect((await provider.call('/v1/oauth/token', fits)).status).toBe(400);
    const answer = await provider.call('/v1/oauth/token', `${fits} `);
    expect([answer.status, answer.json().error]).toEqual([413, 'invalid_request']);
  });
});
