import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type TestClient, TestProvider } from '../support/provider.ts';

let provider: TestProvider;
let client: TestClient;

beforeAll(async () => {
  provider = await TestProvider.start();
  client = await provider.client();
});
afterAll(() => provider.stop());

const alive = async (token: string): Promise<boolean> => (await provider.userinfo(token)).status === 200;

describe('the revocation endpoint', () => {
  it.each([
    ['JSON', (token: string) => ({ token })],
    ['a form', (token: string) => new URLSearchParams({ token })],
  ])('ends a token, asked in %s, and answers alike when it is asked again', async (_name, body) => {
    const token = await provider.token(client);
    for (let time = 0; time < 2; time += 1) {
      const answer = await provider.call('/v1/oauth/revoke', body(token));
      expect(answer.status).toBe(200);
      expect(answer.json()).toEqual({ ok: true });
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect(await alive(token)).toBe(false);
    }
  });

  it.each(['unknown', `svc_at_${'a'.repeat(43)}`, 'a.b.c', 'x'.repeat(10_000)])(
    'answers ok for an unknown token: %#',
    async (token) => {
      const answer = await provider.call('/v1/oauth/revoke', { token });
      expect([answer.status, answer.text]).toEqual([200, '{"ok":true}']);
    },
  );

  it('answers ok for an expired token', async () => {
    const token = await provider.token(client);
    provider.clock.advance(2 * 3_600_000);
    expect((await provider.call('/v1/oauth/revoke', { token })).json()).toEqual({ ok: true });
  });

  it('ends that token only', async () => {
    const [one, sibling] = [await provider.token(client), await provider.token(client)];
    await provider.call('/v1/oauth/revoke', { token: one });
    expect(await alive(sibling)).toBe(true);
    const browser = provider.browser();
    const again = await browser.get(provider.authorizeUrl(client, { prompt: 'none' }));
    expect(new URL(again.location ?? '').searchParams.has('code')).toBe(true);
  });

  it('ignores client credentials and hints that are sent along, right or wrong', async () => {
    for (const headers of [
      { authorization: `Basic ${btoa('nobody:wrong')}` },
      { authorization: 'Bearer nonsense' },
    ]) {
      const token = await provider.token(client);
      const body = { token, client_id: 'nobody', client_secret: 'wrong', token_type_hint: 'refresh_token' };
      expect((await provider.call('/v1/oauth/revoke', body, headers)).json()).toEqual({ ok: true });
      expect(await alive(token)).toBe(false);
    }
  });

  it.each([{}, { token: '' }, { access_token: 'x' }])('refuses %j, which has no token', async (body) => {
    const answer = await provider.call('/v1/oauth/revoke', body);
    expect([answer.status, answer.json()]).toEqual([
      400,
      { error: 'invalid_request', error_description: 'The parameter token is missing.' },
    ]);
  });

  it.each([
    '{"token":["a"]}',
    '{"token":null}',
    '{"token":1}',
    '[]',
    '{"token":"a","token":"b"}',
    'nonsense',
  ])('refuses %s', async (body) => {
    const answer = await provider.call('/v1/oauth/revoke', body);
    expect([answer.status, answer.json().error]).toEqual([400, 'invalid_request']);
  });

  it('answers JSON whatever Accept says', async () => {
    const answer = await provider.call('/v1/oauth/revoke', { token: 'x' }, { accept: 'text/html' });
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
  });
});
