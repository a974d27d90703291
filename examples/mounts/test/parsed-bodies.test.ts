import { describe, expect, it, vi } from 'vitest';
import { ask } from './support/ask.ts';
import { deployed } from './support/deployment.ts';
import {
  expressParsersFirst,
  fastifyParsersFirst,
  honoBodyRead,
  nestParsersFirst,
} from './support/parsers-first.ts';
import { callPartnerApi, partnerOf } from './support/walk.ts';

// The machines that run these tests may be slow and busy.
vi.setConfig({ testTimeout: 60_000 });

describe.each([
  ['Express', expressParsersFirst],
  ['Fastify', fastifyParsersFirst],
  ['NestJS', nestParsersFirst],
] as const)('bodies that parsers of %s have read', (_name, parsersFirst) => {
  it('are not enough for the partner API, which reports at once that it needs the bytes', () =>
    deployed(parsersFirst({ keepBytes: false }), async (deployment) => {
      const { call, signed } = await partnerOf(deployment);
      expect((await call('/whoami')).status).toBe(200);
      for (const send of [call, signed]) {
        const answer = await send('/verify', { token: 'a passport' });
        expect([answer.status, answer.json().code]).toEqual([400, 'invalid_request']);
        expect(answer.json().message).toMatch(/body parsers have to come after/);
      }
      // The token endpoint works with a body that a parser has already read.
      const token = `${deployment.baseUrl}/v1/oauth/token`;
      const credentials = { client_id: 'nobody', client_secret: 'none' };
      const exchange = { grant_type: 'authorization_code', code: 'c', redirect_uri: 'https://a.example' };
      for (const sent of [
        { body: { ...exchange, ...credentials } },
        { form: { ...exchange, ...credentials } },
      ])
        expect((await ask(token, { method: 'POST', ...sent })).json().error).toBe('invalid_client');
    }));

  it('are enough for all endpoints if the parsers keep the bytes as rawBody', () =>
    deployed(parsersFirst({ keepBytes: true }), callPartnerApi));
});

it('a body that a middleware of Hono has read causes an immediate error, which the host handles', () =>
  deployed(honoBodyRead, async ({ site }) => {
    const answer = await ask(`${site}/v1/oauth/token`, { method: 'POST', body: { grant_type: 'none' } });
    const said = expect.stringMatching(/body of the request was read/);
    expect([answer.status, answer.text]).toEqual([500, said]);
    expect((await ask(`${site}/v1/oauth/userinfo`)).status).toBe(401);
  }));
