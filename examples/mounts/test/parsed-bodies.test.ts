import { describe, expect, it, vi } from 'vitest';
import { ask } from './support/ask.ts';
import { deployed } from './support/deployment.ts';
import {
  expressParsersFirst,
  fastifyParsersFirst,
  honoBodyRead,
  nestParsersFirst,
} from './support/parsers-first.ts';
import { callPartnerApi, partnerOf, signIn } from './support/walk.ts';

// Machines that run these are small and busy.
vi.setConfig({ testTimeout: 60_000 });

describe.each([
  ['Express', expressParsersFirst],
  ['Fastify', fastifyParsersFirst],
  ['NestJS', nestParsersFirst],
] as const)('bodies that parsers of %s have read', (_name, parsersFirst) => {
  it('are enough for sign-in; the partner API says at once that it needs the bytes', () =>
    deployed(parsersFirst({ keepBytes: false }), async (deployment) => {
      await signIn(deployment);
      await signIn(deployment, { post: true });

      const { call, signed } = await partnerOf(deployment);
      expect((await call('/whoami')).status).toBe(200);
      for (const send of [call, signed]) {
        const answer = await send('/verify', { token: 'a passport' });
        expect([answer.status, answer.json().code]).toEqual([400, 'invalid_request']);
        expect(answer.json().message).toMatch(/body parsers have to come after/);
      }
    }));

  it('are enough for everything, where the parsers keep the bytes as rawBody', () =>
    deployed(parsersFirst({ keepBytes: true }), async (deployment) => {
      await signIn(deployment);
      await signIn(deployment, { post: true });
      await callPartnerApi(deployment);
    }));
});

it('a body that a middleware of Hono has read is an error at once, in the hands of the host', () =>
  deployed(honoBodyRead, async ({ site }) => {
    const answer = await ask(`${site}/v1/oauth/token`, { method: 'POST', body: { grant_type: 'none' } });
    expect([answer.status, answer.text]).toEqual([
      500,
      expect.stringMatching(/body of the request was read/),
    ]);
    expect((await ask(`${site}/v1/oauth/userinfo`)).status).toBe(401);
  }));
