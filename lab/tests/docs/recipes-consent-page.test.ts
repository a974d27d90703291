import { createServer } from 'node:http';
import type { Ostiary } from '@ostiary/core';
import express, { type Express } from 'express';
import { afterAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { authorizePath, csrfOf, RoamingBrowser } from '../../support/browser/remote-flow.ts';
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
    const browser = new RoamingBrowser(origin, 'anybody');
    const asked = { id: client.clientId, secret: '', redirectUri };
    const interaction = (await browser.visit(origin, authorizePath(asked))).location;
    const page = (await browser.visit(origin, interaction)).location;
    expect(page).toMatch(/^\/consent\//);
    const { text } = await browser.visit(origin, page);
    expect(text).toContain('Kafe &#38; Co');
    const decided = await browser.visit(origin, page, { csrf: csrfOf(text), decision: 'approve' });
    const { location } = await browser.visit(origin, decided.location);
    expect(location).toMatch(/^http:\/\/127\.0\.0\.1:9\/callback\?.*\bcode=/);
  });
});
