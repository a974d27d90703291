import { sqliteStorage } from '@ostiary/adapter-sqlite';
import type { Ostiary, OstiaryOptions, PaymentRail } from '@ostiary/core';
import Database from 'better-sqlite3';
import express, { type Express } from 'express';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { afterwards, serve } from '../../../packages/core/test/support/running.ts';
import { authorizePath, csrfOf, RoamingBrowser } from '../../support/browser/remote-flow.ts';
import { installation, newKit, partnerOf } from './support/reader.ts';
import { recipeFolder } from './support/recipe.ts';

const { fileFor, recipe } = recipeFolder();

describe('recipes for those who embed', () => {
  it('sign a user out everywhere', async () => {
    const { signOutEverywhere } = await recipe<{
      signOutEverywhere(ostiary: Ostiary, sub: string): Promise<void>;
    }>('Sign a user out everywhere');
    const kit = await newKit();
    const token = await kit.accessToken(kit.clients.web, { scopes: ['openid'] });
    const ask = () =>
      kit.fetch(`${kit.baseUrl}/v1/oauth/userinfo`, { headers: { authorization: `Bearer ${token}` } });
    expect((await ask()).status).toBe(200);
    await signOutEverywhere(kit.ostiary, kit.user.sub);
    expect((await ask()).status).toBe(401);
  });

  it('block a user', async () => {
    const { block } = await recipe<{
      block(ostiary: Ostiary, database: Database.Database, sub: string, employee: string): Promise<void>;
    }>('Block a user');
    const kit = await newKit();
    const database = new Database(':memory:');
    database.exec(
      "CREATE TABLE users (id TEXT, blocked INTEGER DEFAULT 0); INSERT INTO users (id) VALUES ('user-1')",
    );
    await block(kit.ostiary, database, 'user-1', 'ana@example.com');
    expect(database.prepare('SELECT blocked FROM users').pluck().get()).toBe(1);
    const { entries } = await kit.ostiary.admin.audit.list({ target: 'user:user-1' });
    expect(entries.map(({ actor, action }) => `${actor} ${action}`).sort()).toEqual([
      'ana@example.com user.block',
      'ana@example.com user.end',
    ]);
  });

  it('rotate everything', async () => {
    const { rotateAll } = await recipe<{
      rotateAll(ostiary: Ostiary, overlapSeconds: number): Promise<readonly { to: string; secret: string }[]>;
    }>('Rotate everything');
    const kit = await newKit();
    const before = await kit.ostiary.admin.signingKeys.list();
    const handOver = await rotateAll(kit.ostiary, 0);
    expect((await kit.ostiary.admin.signingKeys.list()).length).toBe(before.length + 2);
    const whoami = (key: string) =>
      kit.fetch(`${kit.baseUrl}/v1/partner/whoami`, { headers: { 'x-api-key': key } });
    expect((await whoami(kit.keys.live.key)).status).toBe(401);
    const keys = handOver.flatMap(({ secret }) =>
      secret.startsWith('svc_live_') ? [secret.split(' ')[0] ?? ''] : [],
    );
    expect(keys.length).toBe(1);
    for (const key of keys) expect((await whoami(key)).status).toBe(200);
  });

  it('an event with your own change', async () => {
    const { ship } = await recipe<{
      ship(ostiary: Ostiary, database: Database.Database, orderId: string): void;
    }>('An event with your own change, on SQLite');
    const file = fileFor('shared.db');
    const ostiary = await installation('http://127.0.0.1:3000', {
      storage: sqliteStorage({ file }),
      events: { 'order.shipped': { schema: z.object({ orderId: z.string() }), example: { orderId: 'A-1' } } },
    });
    await ostiary.admin.partners.create({ slug: 'kafe-lakay', name: 'Kafe Lakay' });
    const { key } = await ostiary.admin.apiKeys.issue({
      partner: 'kafe-lakay',
      mode: 'live',
      scopes: ['webhooks'],
    });
    const database = new Database(file);
    afterwards(() => database.close());
    database.exec("CREATE TABLE orders (id TEXT, state TEXT); INSERT INTO orders VALUES ('A-1018', 'paid')");
    ship(ostiary, database, 'A-1018');
    // Data that does not match the schema rolls the order back, too.
    expect(() => ship(ostiary, database, 17 as never)).toThrow(/orderId/);
    const answer = await ostiary.fetch(
      new Request('http://127.0.0.1:3000/v1/partner/events?after=0', { headers: { 'x-api-key': key } }),
    );
    expect(await answer.json()).toMatchObject({
      data: [{ type: 'order.shipped', data: { orderId: 'A-1018' } }],
    });
    expect(database.prepare('SELECT state FROM orders').pluck().all()).toEqual(['shipped']);
  });

  it('proxies are what the option takes', async () => {
    const nginx = await recipe<{ proxied: Partial<OstiaryOptions> }>('Behind nginx');
    const cloudflare = await recipe<{ behindCloudflare(ranges: string): Partial<OstiaryOptions> }>(
      'Behind Cloudflare',
    );
    await installation('https://id.example.com', nginx.proxied);
    const options = cloudflare.behindCloudflare('173.245.48.0/20\n2400:cb00::/32\n');
    expect(options.trustedProxies).toHaveLength(3);
    await installation('https://id.example.com', options);
  });

  it('a payment that takes days', async () => {
    const asked: string[] = [];
    Object.assign(globalThis, { bank: { order: async (id: string) => asked.push(id) } });
    const { rail, reported } = await recipe<{
      rail: PaymentRail;
      reported(ostiary: Ostiary, id: string, paid: boolean): Promise<{ settled: boolean } | null>;
    }>('A payment that takes days');
    const kit = await newKit();
    const order = { amount: '5.00', currency: 'HTG', recipient: { kid: kit.user.kid } } as const;
    const { id } = await partnerOf(kit).payments.create(order);
    const transfer = {
      id,
      partner: 'acme',
      mode: 'live',
      amount: 500n,
      currency: 'HTG',
      recipientKid: kit.user.kid,
    } as const;
    const { signal } = new AbortController();
    expect(await rail.execute({ ...transfer, description: null, reference: null }, { signal })).toEqual({
      status: 'pending',
    });
    expect(asked).toEqual([id]);
    expect(await reported(kit.ostiary, id, false)).toMatchObject({ settled: true });
    expect(await reported(kit.ostiary, id, false)).toMatchObject({ settled: false });
    expect((await partnerOf(kit).payments.retrieve(id)).failure?.code).toBe('returned_by_bank');
  });

  it('health checks', async () => {
    const { health } = await recipe<{ health(app: Express, ostiary: Ostiary): void }>('Health checks');
    const ostiary = await installation('http://127.0.0.1:3000');
    const app = express();
    health(app, ostiary);
    const origin = await serve(app);
    const ask = async (path: string) => (await fetch(origin + path)).status;
    expect([await ask('/healthz'), await ask('/readyz')]).toEqual([200, 200]);
    await ostiary.close();
    expect([await ask('/healthz'), await ask('/readyz')]).toEqual([200, 503]);
  });

  it('a consent page of your own: shows who asks, and lets the user approve', async () => {
    const { consentPage } = await recipe<{
      consentPage(
        app: Express,
        ostiary: Ostiary,
        form: { csrfOf(body: unknown): string; approved(body: unknown): boolean },
      ): void;
    }>('A consent page of your own');
    const app = express();
    const origin = await serve(app);
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
