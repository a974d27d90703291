import { expect, it } from 'vitest';
import { basic, tokenRequest } from '../support/provider.ts';
import { startProvider } from '../support/running.ts';
import { rawPost, sendRaw } from './raw.ts';

const provider = await startProvider();
const client = await provider.client();
const { id } = client;
const secret = client.secret ?? '';
const right = basic(id, secret);

const exchange = (headers: readonly string[], code = 'x') => {
  const { client_id: _, client_secret: __, ...grant } = tokenRequest(client, code);
  const all = ['Content-Type: application/x-www-form-urlencoded', ...headers];
  return sendRaw(provider.origin, rawPost('/v1/oauth/token', all, String(new URLSearchParams(grant))));
};

it('malformed credentials are refused', async () => {
  const code = await provider.code(client);
  const bare = ['', 'Basic', 'Basic ', 'Basic :', 'Basic =', 'Basic ====', 'Basic !!!!', 'Basic %%%'];
  const strange = ['Basic \u00ff\u00fe', 'Basic __proto__', 'Negotiate YII=', 'null', 'undefined'];
  const others = [`Basic Basic ${right}`, `Bearer ${secret}`, `Digest username="${id}"`];
  const swollen = [
    `${right},${right}`,
    `${right} x`,
    `Basic ${' '.repeat(8000)}x`,
    `Basic ${'A'.repeat(8000)}!`,
  ];
  const colons = ['', ':', '::::', id, `${id}:`, `:${secret}`, `${id}::${secret}`, `${id}:${secret}:`];
  const zeros = [`${id}:${secret}\u0000`, `${id}\u0000:${secret}`, `${id}:%00`];
  const spaces = [`${id}:${secret} `, ` ${id}:${secret}`, `${id}:%zz`, `%:${secret}`];
  const names = [`__proto__:${secret}`, `constructor:${secret}`, `${id.toUpperCase()}:${secret}`];
  const encoded = [...colons, ...zeros, ...spaces, ...names, `${'a'.repeat(8000)}:b`, '\u00ff:\u00fe'].map(
    (text) => `Basic ${Buffer.from(text, 'latin1').toString('base64')}`,
  );
  for (const header of [...bare, ...strange, ...others, ...swollen, ...encoded]) {
    const answer = await exchange([`Authorization: ${header}`], code);
    expect.soft([400, 401], header.slice(0, 80)).toContain(answer.status);
    expect.soft(answer.body, header.slice(0, 80)).toMatch(/"error":"invalid_(client|request)"/);
    const challenge = answer.status === 401 ? ['Basic realm="token", charset="UTF-8"'] : [];
    expect.soft(answer.values('www-authenticate'), header.slice(0, 80)).toEqual(challenge);
  }
  expect(await provider.redeem(client, code)).toBe('200 ok');
});

it('two Authorization headers are refused', async () => {
  const headers = [basic('stranger', 'x'), right].map((value) => `Authorization: ${value}`);
  expect((await exchange(headers, await provider.code(client))).status).toBe(401);
});

it('neither credentials nor parameters are taken from the query of the token endpoint', async () => {
  const all = tokenRequest(client, await provider.code(client));
  for (const name of Object.keys(all)) {
    const { [name]: _, ...rest } = all;
    const { status } = await provider.call(`/v1/oauth/token?${new URLSearchParams(all)}`, rest);
    expect([400, 401]).toContain(status);
  }
  expect((await provider.call('/v1/oauth/token?client_id=other&code=other', all)).status).toBe(200);
});
