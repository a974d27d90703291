import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type TestClient, TestProvider } from '../support/provider.ts';
import { rawPost, sendRaw } from './raw.ts';

const basic = (text: string | Uint8Array): string => `Basic ${Buffer.from(text).toString('base64')}`;

describe('hostile headers at the API', () => {
  let provider: TestProvider;
  let client: TestClient;
  beforeAll(async () => {
    provider = await TestProvider.start({ limits: { failedClientAuthentications: 1_000_000 } });
    client = await provider.client();
  });
  afterAll(() => provider.stop());

  const fields = (code: string): URLSearchParams =>
    new URLSearchParams({ grant_type: 'authorization_code', code, redirect_uri: client.redirectUri });

  const exchange = (headers: readonly string[], code = 'x') =>
    sendRaw(
      provider.origin,
      rawPost(
        '/v1/oauth/token',
        ['Content-Type: application/x-www-form-urlencoded', ...headers],
        fields(code).toString(),
      ),
    );

  it('Basic credentials that are right are taken once, in the spellings that clients use', async () => {
    const id = client.id;
    const secret = client.secret ?? '';
    const spellings = [
      basic(`${id}:${secret}`),
      basic(`${id}:${secret}`).replace('Basic', 'bAsIc'),
      basic(`${id}:${secret}`).replace(' ', '   '),
      basic(`${id}:${[...secret].map((c) => `%${c.charCodeAt(0).toString(16)}`).join('')}`),
    ];
    for (const header of spellings) {
      expect((await exchange([`Authorization: ${header}`], await provider.code(client))).status).toBe(200);
    }
  });

  it('garbage for credentials is refused, and nobody gets in', async () => {
    const id = client.id;
    const secret = client.secret ?? '';
    const code = await provider.code(client);
    const garbage = [
      '',
      'Basic',
      'Basic ',
      'Basic :',
      'Basic =',
      'Basic ====',
      'Basic !!!!',
      'Basic %%%',
      'Basic \u00ff\u00fe',
      'Basic __proto__',
      basic(''),
      basic(':'),
      basic('::::'),
      basic(`${id}`),
      basic(`${id}:`),
      basic(`:${secret}`),
      basic(`${id}::${secret}`),
      basic(`${id}:${secret}:`),
      basic(`${id}:${secret}\u0000`),
      basic(`${id}\u0000:${secret}`),
      basic(`${id}:${secret} `),
      basic(` ${id}:${secret}`),
      basic(`${id}:%zz`),
      basic(`%:${secret}`),
      basic(`${id}:%00`),
      basic(new Uint8Array([0xff, 0x3a, 0xfe])),
      basic(`${id.toUpperCase()}:${secret}`),
      basic(`__proto__:${secret}`),
      basic(`constructor:${secret}`),
      basic(`${'a'.repeat(8000)}:b`),
      `${basic(`${id}:${secret}`)},${basic(`${id}:${secret}`)}`,
      `${basic(`${id}:${secret}`)} x`,
      `Basic Basic ${basic(`${id}:${secret}`)}`,
      `Bearer ${secret}`,
      `Digest username="${id}"`,
      'Negotiate YII=',
      'null',
      'undefined',
      `Basic ${' '.repeat(8000)}x`,
      `Basic ${'A'.repeat(8000)}!`,
    ];
    for (const header of garbage) {
      const answer = await exchange([`Authorization: ${header}`], code);
      expect.soft([400, 401], header.slice(0, 80)).toContain(answer.status);
      expect.soft(answer.body, header.slice(0, 80)).toMatch(/"error":"invalid_(client|request)"/);
      if (answer.status === 401 && header !== '') {
        expect
          .soft(answer.values('www-authenticate'), header.slice(0, 80))
          .toEqual(['Basic realm="token", charset="UTF-8"']);
      }
    }
    expect((await provider.exchange(client, code)).status).toBe(200);
  });

  it('a header of 64 KB never reaches the provider', async () => {
    for (const header of [
      `Authorization: Basic ${'A'.repeat(65_536)}`,
      `Accept: ${'a/b,'.repeat(16_384)}`,
      `Cookie: ${'a=b;'.repeat(16_384)}`,
      `Origin: https://${'a'.repeat(65_536)}`,
    ]) {
      expect((await exchange([header])).status).toBe(431);
    }
  });

  it('credentials in two places are refused', async () => {
    const code = await provider.code(client);
    const other = await provider.client();
    const header = { authorization: basic(`${client.id}:${client.secret}`) };
    for (const more of [
      { client_secret: client.secret ?? '' },
      { client_secret: 'wrong' },
      { client_id: other.id },
      { client_id: other.id, client_secret: other.secret ?? '' },
    ]) {
      const form = fields(code);
      for (const [name, value] of Object.entries(more)) form.set(name, value);
      const answer = await provider.call('/v1/oauth/token', form, header);
      expect([answer.status, answer.json().error]).toEqual([400, 'invalid_request']);
    }
    const twice = await exchange(
      [`Authorization: ${basic('stranger:x')}`, `Authorization: ${header.authorization}`],
      code,
    );
    expect(twice.status).toBe(401);
  });

  it('an Accept header turns no JSON answer into anything else', async () => {
    for (const accept of [
      'text/html',
      'text/html,*/*;q=0.1',
      'image/png',
      '*/*;q=0',
      ';',
      '"',
      `text/html;q="${'\\'.repeat(4000)}`,
      'application/json;q=0',
    ]) {
      const answer = await exchange([`Accept: ${accept}`]);
      expect(answer.status).toBe(400);
      expect(answer.values('content-type')).toEqual(['application/json; charset=utf-8']);
    }
  });

  it('an Origin that nobody registered is given nothing', async () => {
    for (const origin of [
      'https://evil.example',
      'null',
      'https://app.example.evil.example',
      'https://app.example:443',
      'https://app.example/',
      'HTTPS://APP.EXAMPLE',
      'http://app.example',
      '*',
      'https://app.example, https://evil.example',
      'https://app.example\u00a0',
    ]) {
      const answer = await exchange([`Origin: ${origin}`]);
      expect.soft(answer.values('access-control-allow-origin'), origin).toEqual([]);
      expect(answer.values('access-control-allow-credentials')).toEqual([]);
      expect(answer.values('vary').join()).toContain('Origin');
    }
    expect((await exchange(['Origin: https://app.example'])).values('access-control-allow-origin')).toEqual([
      'https://app.example',
    ]);
  });

  it('neither credentials nor parameters are taken from the query of the token endpoint', async () => {
    const code = await provider.code(client);
    const all = {
      grant_type: 'authorization_code',
      code,
      redirect_uri: client.redirectUri,
      client_id: client.id,
      client_secret: client.secret ?? '',
    };
    for (const name of Object.keys(all)) {
      const rest = Object.fromEntries(Object.entries(all).filter(([other]) => other !== name));
      const { status } = await provider.call(`/v1/oauth/token?${new URLSearchParams(all)}`, rest);
      expect([400, 401]).toContain(status);
    }
    expect((await provider.call('/v1/oauth/token?client_id=other&code=other', all)).status).toBe(200);
  });

  it('a token is not taken from the query, a cookie or another scheme', async () => {
    const token = await provider.token(client);
    const get = async (path: string, headers: Record<string, string>) =>
      (await fetch(provider.origin + path, { headers })).status;
    expect(await get('/v1/oauth/userinfo', { authorization: `Bearer ${token}` })).toBe(200);
    expect(await get(`/v1/oauth/userinfo?access_token=${token}`, {})).toBe(401);
    expect(await get('/v1/oauth/userinfo', { cookie: `access_token=${token}` })).toBe(401);
    for (const value of [
      token,
      `Token ${token}`,
      `Basic ${token}`,
      `DPoP ${token}`,
      `Bearer${token}`,
      `Bearer ${token},`,
      `Bearer ${token} x`,
      `Bearer "${token}"`,
      `Bearer x ${token}`,
    ]) {
      expect.soft(await get('/v1/oauth/userinfo', { authorization: value }), value).toBe(401);
    }
    expect(
      (
        await provider.call('/v1/oauth/userinfo', new URLSearchParams({ access_token: token }), {
          authorization: 'Bearer x',
        })
      ).status,
    ).toBe(400);
  });
});
