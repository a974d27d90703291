import { describe, expect, it } from 'vitest';
import { documentUrl, readMetadata } from '../../src/oauth/metadata-document.ts';

const id = 'https://app.example/client.json';
const document = {
  client_id: id,
  client_name: 'Assistant',
  redirect_uris: ['http://127.0.0.1/callback', 'https://app.example/callback'],
  token_endpoint_auth_method: 'none',
};

describe('the URL of a document', () => {
  it.each([
    id,
    'https://app.example/a',
    'https://app.example:8443/client',
    'https://app.example/client?v=1',
    'https://xn--bcher-kva.example/client',
    'https://[2606:4700:4700::1111]/client',
    `https://app.example/${'a'.repeat(492)}`,
  ])('may be %s', (text) => {
    expect(documentUrl(text, false)?.href).toBe(text);
  });

  it.each([
    ['has no path', ['https://app.example', 'https://app.example/', 'https://app.example/?a=b']],
    [
      'is not https',
      ['http://app.example/a', 'ftp://app.example/a', 'javascript://app.example/a', 'app.example/a'],
    ],
    [
      'has user information',
      ['https://a@app.example/a', 'https://a:b@app.example/a', 'https://@app.example/a'],
    ],
    ['has a fragment', ['https://app.example/a#', 'https://app.example/a#b']],
    [
      'has dot segments',
      [
        'https://app.example/./a',
        'https://app.example/b/../a',
        'https://app.example/%2e/a',
        'https://app.example/a/%2E%2e',
      ],
    ],
    [
      'has another spelling than the parser gives it',
      [
        ...[
          'HTTPS://app.example/a',
          'https://App.example/a',
          'https://app.example:443/a',
          'https:app.example/a',
        ],
        ...[
          'https:///app.example/a',
          'https://app.example\\a',
          ' https://app.example/a',
          'https://app.example/a b',
        ],
        ...[
          'https://app.example/a\n',
          'https://bücher.example/a',
          'https://app.example/ü',
          'https://ap%70.example/a',
        ],
        ...['https://аpp.example/a', 'https://app。example/a', 'https://app.example/a\u202e'],
      ],
    ],
    [
      'has an IPv4 address in another form',
      [
        'https://2130706433/a',
        'https://0x7f000001/a',
        'https://0177.0.0.1/a',
        'https://127.1/a',
        'https://1.1.1/a',
      ],
    ],
    ['is too long', [`https://app.example/${'a'.repeat(493)}`]],
    ['is no URL', ['', 'client-1', '__proto__', 'constructor', 'https://', 'https://%00/a']],
  ])('is none that %s', (_what, texts) => {
    for (const text of texts) expect(documentUrl(text, false), text).toBeNull();
  });

  it('may be http where that is allowed', () => {
    expect(documentUrl('http://127.0.0.1:4000/a', true)?.href).toBe('http://127.0.0.1:4000/a');
    expect(documentUrl('http://127.0.0.1:4000/', true)).toBeNull();
    expect(documentUrl('ftp://127.0.0.1/a', true)).toBeNull();
  });
});

describe('a document', () => {
  const read = (changes: object) => readMetadata(JSON.stringify({ ...document, ...changes }), id);

  it('says what the client is called and where its users return to', () => {
    expect(
      read({ client_uri: 'https://x.example', logo_uri: 'https://x.example/l.png', scope: 'all' }),
    ).toEqual({
      claimedName: 'Assistant',
      redirectUris: document.redirect_uris,
      postLogoutRedirectUris: [],
      idTokenAlg: 'RS256',
    });
    const more = {
      client_name: undefined,
      grant_types: ['refresh_token', 'authorization_code'],
      response_types: ['code'],
      post_logout_redirect_uris: ['https://app.example/bye'],
      id_token_signed_response_alg: 'ES256',
    };
    expect(read(more)).toMatchObject({
      claimedName: null,
      postLogoutRedirectUris: ['https://app.example/bye'],
      idTokenAlg: 'ES256',
    });
  });

  it('may prefer another method of authentication if it also supports none, as that of ChatGPT', () => {
    const methods = {
      token_endpoint_auth_method: 'private_key_jwt',
      token_endpoint_auth_methods_supported: ['none', 'private_key_jwt'],
      token_endpoint_auth_signing_alg: 'RS256',
      jwks_uri: 'https://app.example/jwks.json',
    };
    expect(read(methods)).toEqual(read({}));
    expect(read({ ...methods, token_endpoint_auth_method: undefined })).toEqual(read({}));
  });

  it.each<[problem: string, changes: object]>([
    ['its client_id is not its URL', { client_id: `${id}/` }],
    ['its client_id is not its URL', { client_id: 'HTTPS://app.example/client.json' }],
    ['client_id: is missing', { client_id: undefined }],
    ['client_id: has to be a string', { client_id: [id] }],
    ['redirect_uris: is missing', { redirect_uris: undefined }],
    ['redirect_uris: has to be a list', { redirect_uris: 'https://app.example/callback' }],
    ['redirect_uris: needs at least one', { redirect_uris: [] }],
    [
      'redirect_uris: takes 50 at most',
      { redirect_uris: Array.from({ length: 51 }, (_, i) => `https://a.example/${i}`) },
    ],
    [
      'redirect_uris.0: "http://app.example/" is http, which is allowed for loopback addresses only',
      { redirect_uris: ['http://app.example/'] },
    ],
    [
      'redirect_uris.0: "javascript:alert(1)" has a scheme that is not allowed',
      { redirect_uris: ['javascript:alert(1)'] },
    ],
    [
      'redirect_uris.0: "cursor://callback" has a scheme that is not allowed: without a dot it needs a firstParty client',
      { redirect_uris: ['cursor://callback'] },
    ],
    [
      'redirect_uris.0: "https://?.example/" has characters that a URI cannot have',
      { redirect_uris: ['https://ü.example/'] },
    ],
    [
      'post_logout_redirect_uris.0: "https://a.example/#b" has a fragment',
      { post_logout_redirect_uris: ['https://a.example/#b'] },
    ],
    [
      'token_endpoint_auth_method: has to be none, or token_endpoint_auth_methods_supported has to include none',
      { token_endpoint_auth_method: undefined },
    ],
    ...['client_secret_basic', 'client_secret_post', 'client_secret_jwt', 'private_key_jwt', ''].map(
      (method): [string, object] => [
        'token_endpoint_auth_method: has to be none',
        { token_endpoint_auth_method: method, token_endpoint_auth_methods_supported: ['private_key_jwt'] },
      ],
    ),
    ['token_endpoint_auth_method: has to be a string', { token_endpoint_auth_method: null }],
    [
      'token_endpoint_auth_methods_supported: has to be a list',
      { token_endpoint_auth_methods_supported: 'none' },
    ],
    ['client_secret: must not be there', { client_secret: 'secret' }],
    ['grant_types: must include authorization_code', { grant_types: ['client_credentials'] }],
    ['response_types: must include code', { response_types: ['token'] }],
    ['id_token_signed_response_alg: has to be one of RS256, ES256', { id_token_signed_response_alg: 'none' }],
  ])('is refused: %s', (problem, changes) => {
    expect(() => read(changes)).toThrow(problem);
  });

  it.each([
    ['', 'it is not strict JSON'],
    ['<html>', 'it is not strict JSON'],
    ['null', 'the document: has to be an object'],
    ['[]', 'the document: has to be an object'],
    [`{"client_id":"${id}","client_id":"${id}"}`, 'it is not strict JSON'],
    ['{"__proto__":{}}', 'it is not strict JSON'],
    ['['.repeat(2_000) + ']'.repeat(2_000), 'it is not strict JSON'],
    ['{"client_name":"\\u0000"}', 'it is not strict JSON'],
    ['{"client_name":"\\ud800"}', 'it is not strict JSON'],
  ])('is refused that is %j', (text, problem) => {
    expect(() => readMetadata(text, id)).toThrow(problem);
  });

  it.each<[name: string, shown: string | null]>([
    ['  Bank of Haïti  ', 'Bank of Haïti'],
    ['safe\u202Egpj.exe', 'safe\ufffdgpj.exe'],
    ['a\u2066b\u2069\u200b', 'a\ufffdb\ufffd\ufffd'],
    ['line\nbreak', 'line\ufffdbreak'],
    ['a'.repeat(200), 'a'.repeat(100)],
    [`Z${'\u0336'.repeat(50)}`, `Z${'\u0336'.repeat(4)}`],
    ['', null],
    ['   ', null],
  ])('that is called %j shows %j', (name, shown) => {
    expect(read({ client_name: name }).claimedName).toBe(shown);
  });
});
