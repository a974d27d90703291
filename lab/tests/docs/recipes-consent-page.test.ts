import { createServer } from 'node:http';
import type { Ostiary } from '@ostiary/core';
import express, { type Express } from 'express';
import { afterAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { closeAll, installation, listening } from './support/reader.ts';
import { recipe } from './support/recipe.ts';

afterAll(closeAll);

describe('the recipe of a consent page', () => {
  it('shows who asks, and lets the user approve', async () => {
    const { consentPage } = await recipe<{
      consentPage(
        app: Express,
        ostiary: Ostiary,
        form: { csrfOf(body: unknown): string; approved(body: unknown): boolean },
      ): void;
    }>('A consent page of your own');
    const app = express();
    const origin = await listening(createServer(app));
    const ostiary = await installation(origin, { interactionUrl: (id) => `/consent/${id}` });
    app.use(ostiary.handler, express.urlencoded({ extended: false }));
    const fields = (body: unknown) => z.object({ csrf: z.string(), decision: z.string() }).parse(body);
    consentPage(app, ostiary, {
      csrfOf: (body) => fields(body).csrf,
      approved: (body) => fields(body).decision === 'approve',
    });
    const redirectUri = 'http://127.0.0.1:9/callback';
    const { client } = await ostiary.admin.clients.create({
      name: 'Kafe & Co',
      redirectUris: [redirectUri],
      allowedScopes: ['openid'],
    });
    const query = {
      response_type: 'code',
      client_id: client.clientId,
      redirect_uri: redirectUri,
      scope: 'openid',
      state: 's',
    };
    const cookies = new Map<string, string>();
    const open = async (url: string, body?: URLSearchParams) => {
      const headers = { cookie: [...cookies.values()].join('; '), origin };
      const answer = await fetch(url, { redirect: 'manual', headers, ...(body && { method: 'POST', body }) });
      for (const line of answer.headers.getSetCookie()) {
        const [pair = ''] = line.split(';');
        cookies.set(pair.split('=')[0] ?? '', pair);
      }
      return answer;
    };
    /** Follows redirects until one leads to an address with this in it. */
    const followed = async (answer: Response, wanted: string): Promise<string> => {
      const location = new URL(answer.headers.get('location') ?? '/lost', origin).href;
      if (location.includes(wanted)) return location;
      expect(location, await answer.text()).not.toContain('/lost');
      return followed(await open(location), wanted);
    };
    const page = await followed(
      await open(`${origin}/oauth/authorize?${new URLSearchParams(query)}`),
      '/consent/',
    );
    const text = await (await open(page)).text();
    expect(text).toContain('Kafe &#38; Co');
    const csrf = /name="csrf" value="([^"]*)"/.exec(text)?.[1] ?? '';
    const decided = await open(page, new URLSearchParams({ csrf, decision: 'approve' }));
    expect(await followed(decided, redirectUri)).toMatch(/[?&]code=/);
  });
});
