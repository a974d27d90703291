import { describe, expect, it } from 'vitest';
import { startProvider } from '../support/running.ts';

const provider = await startProvider();
const client = await provider.client();

const ask = (body: object | string, headers: Record<string, string> = {}) =>
  provider.call('/v1/oauth/revoke', body, headers);

describe('the revocation endpoint', () => {
  it.each([
    ['JSON', (token: string) => ({ token })],
    ['a form', (token: string) => new URLSearchParams({ token })],
  ])('ends a token, asked in %s, and answers alike when it is asked again', async (_name, body) => {
    const token = await provider.token(client);
    for (let time = 0; time < 2; time += 1) {
      const answer = await ask(body(token));
      expect(answer.status).toBe(200);
      expect(answer.json()).toEqual({ ok: true });
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect(await provider.isAlive(token)).toBe(false);
    }
  });

  it('answers ok for an expired token', async () => {
    const token = await provider.token(client);
    provider.clock.advance(2 * 3_600_000);
    expect((await ask({ token })).json()).toEqual({ ok: true });
  });

  it('ignores client credentials and hints that are sent along, right or wrong', async () => {
    for (const authorization of [`Basic ${btoa('nobody:wrong')}`, 'Bearer nonsense']) {
      const token = await provider.token(client);
      const body = { token, client_id: 'nobody', client_secret: 'wrong', token_type_hint: 'refresh_token' };
      expect((await ask(body, { authorization })).json()).toEqual({ ok: true });
      expect(await provider.isAlive(token)).toBe(false);
    }
  });

  it.each([{}, { token: '' }, { access_token: 'x' }])('refuses %j, which has no token', async (body) => {
    const answer = await ask(body);
    const error_description = 'The parameter token is missing.';
    expect([answer.status, answer.json()]).toEqual([400, { error: 'invalid_request', error_description }]);
  });
});
