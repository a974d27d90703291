import { writeFileSync } from 'node:fs';
import { getRequestListener } from '@hono/node-server';
import type { TestOstiary } from '@ostiary/testing';
import express, { type Express } from 'express';
import fastify, { type FastifyInstance } from 'fastify';
import { Hono } from 'hono';
import Koa from 'koa';
import { beforeAll, expect, it } from 'vitest';
import { serve } from '../../../packages/core/test/support/running.ts';
import { blocksOf } from '../../support/documentation.ts';
import { newKit } from './support/reader.ts';
import { recipeFolder } from './support/recipe.ts';

const { fileFor } = recipeFolder();

/** Function that requests a protected resource. */
type Ask = (authorization?: string) => Promise<Response>;

const asking = (origin: string): Ask => {
  return (authorization) => fetch(`${origin}/wallet`, { headers: authorization ? { authorization } : {} });
};

/** Servers that use the guards of the documentation page unchanged, by framework. */
const frameworks: { readonly [file: string]: (block: { routes?: unknown; GET?: unknown }) => Promise<Ask> } =
  {
    async 'express.ts'({ routes }) {
      const app = express();
      (routes as (app: Express) => void)(app);
      return asking(await serve(app));
    },
    async 'fastify.ts'({ routes }) {
      const app = fastify();
      (routes as (app: FastifyInstance) => void)(app);
      await app.ready();
      return asking(await serve((request, response) => app.routing(request, response)));
    },
    async 'koa.ts'({ routes }) {
      const app = new Koa();
      (routes as (app: Koa) => void)(app);
      return asking(await serve(app.callback()));
    },
    async 'hono.ts'({ routes }) {
      const app = new Hono();
      (routes as (app: Hono) => void)(app);
      return asking(await serve(getRequestListener(app.fetch)));
    },
    async 'route.ts'({ GET }) {
      const answer = GET as (request: Request) => Promise<Response>;
      return (authorization) =>
        answer(
          new Request('https://shop.example/wallet', { headers: authorization ? { authorization } : {} }),
        );
    },
  };

let kit: TestOstiary;
beforeAll(async () => {
  kit = await newKit();
  Object.assign(globalThis, { ownApi: kit.ostiary });
  writeFileSync(fileFor('ostiary.ts'), 'export const ostiary = globalThis.ownApi;\n');
  for (const block of blocksOf('docs/own-api.md', 'ts')) {
    const [, name = ''] = /^\/\/ ([\w-]+\.ts)\n/.exec(block) ?? [];
    writeFileSync(fileFor(name), block);
  }
});

it.each(Object.entries(frameworks))(
  'the guard of %s lets the right token in and refuses as RFC 6750 says',
  async (file, open) => {
    const ask = await open(await import(fileFor(file)));
    const tokenWith = (...scopes: ('openid' | 'wallet:balance')[]) =>
      kit.accessToken(kit.clients.web, { scopes });
    const outcome = async (authorization?: string) => {
      const answer = await ask(authorization);
      const text = await answer.text();
      return [answer.status, answer.headers.get('www-authenticate'), answer.ok ? text : 'refused'];
    };

    const right = await tokenWith('openid', 'wallet:balance');
    expect(await outcome(`bearer ${right}`)).toEqual([200, null, `{"walletOf":"${kit.user.sub}"}`]);
    expect(await outcome()).toEqual([401, 'Bearer', 'refused']);
    const revoked = await tokenWith('openid', 'wallet:balance');
    await kit.ostiary.users.end(kit.user.sub);
    for (const token of ['nonsense', revoked, right])
      expect(await outcome(`Bearer ${token}`)).toEqual([401, 'Bearer error="invalid_token"', 'refused']);
    expect(await outcome(`Bearer ${await tokenWith('openid')}`)).toEqual([
      403,
      'Bearer error="insufficient_scope", scope="wallet:balance"',
      'refused',
    ]);
  },
);
