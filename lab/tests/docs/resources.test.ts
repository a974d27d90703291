import { writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createTestOstiary, type TestOstiary, type TestOstiaryOptions } from '@ostiary/testing';
import express from 'express';
import { beforeAll, expect, it } from 'vitest';
import { afterwards, serve } from '../../../packages/core/test/support/running.ts';
import { blocksOf } from '../../support/documentation.ts';
import { recipeFolder } from './support/recipe.ts';

const { fileFor } = recipeFolder();
const tools = 'https://tools.example.com/mcp';
const metadataUrl = 'https://tools.example.com/.well-known/oauth-protected-resource/mcp';

type Options = Pick<TestOstiaryOptions, 'scopes' | 'resources'>;
type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;
type WebHandler = (request: Request) => Promise<Response>;
let kit: TestOstiary;
let node: Handler;
let web: WebHandler;

// The blocks of the page, unchanged.
beforeAll(async () => {
  for (const block of blocksOf('docs/resources.md', 'ts')) {
    const [, name] = /^\/\/ ([\w-]+\.ts)\n/.exec(block) ?? [];
    if (name !== undefined) writeFileSync(fileFor(name), block);
  }
  const { options }: { options: Options } = await import(fileFor('options.ts'));
  kit = await createTestOstiary({ ...options, introspection: true });
  afterwards(() => kit.close());
  Object.assign(globalThis, { ofResources: kit.ostiary });
  writeFileSync(fileFor('ostiary.ts'), 'export const ostiary = globalThis.ofResources;\n');
  node = (await import(fileFor('node.ts'))).handle;
  web = (await import(fileFor('web.ts'))).handle;
});

const tokenWith = (...scopes: string[]) =>
  kit.accessToken(kit.clients.web, { scopes: scopes as 'openid'[], parameters: { resource: tools } });

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

it('protects an API on Node, behind Express too', async () => {
  for (const origin of [
    await serve(node),
    await serve(express().use((request, response) => void node(request, response))),
  ]) {
    const document = await fetch(`${origin}/.well-known/oauth-protected-resource/mcp`);
    expect(await document.json()).toEqual({
      resource: tools,
      authorization_servers: ['https://id.ostiary.test'],
      scopes_supported: ['tools:run'],
      bearer_methods_supported: ['header'],
      resource_name: 'Tools',
    });
    const refused = await fetch(`${origin}/mcp`);
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([
      401,
      `Bearer scope="tools:run", resource_metadata="${metadataUrl}"`,
    ]);
    const allowed = await fetch(`${origin}/mcp`, bearer(await tokenWith('openid', 'tools:run')));
    expect(await allowed.text()).toBe(`tools of ${kit.user.sub}`);
  }
});

it('protects an API of the Web API, with a step up', async () => {
  const refused = await web(new Request(tools, bearer(await tokenWith('openid', 'tools:run'))));
  expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([
    403,
    `Bearer error="insufficient_scope", error_description="The access token lacks a scope.", scope="tools:run tools:edit", resource_metadata="${metadataUrl}"`,
  ]);
  const allowed = await web(new Request(tools, bearer(await tokenWith('tools:run', 'tools:edit'))));
  expect(await allowed.text()).toBe(`tools of ${kit.user.sub}`);
  expect((await web(new Request(metadataUrl))).status).toBe(200);
});

it('protects an API in another process', async () => {
  const client = await kit.clients.create({ resourceServer: true, redirectUris: [], allowedScopes: [] });
  Object.assign(process.env, { CLIENT_ID: client.clientId, CLIENT_SECRET: client.clientSecret });
  const page = blocksOf('docs/resources.md', 'ts').find((block) => block.startsWith('// remote.ts')) ?? '';
  // The hosts of the page exist nowhere.
  const asked = page
    .replace('  remote: {', '  fetch: globalThis.ofResourcesFetch,\n  remote: {')
    .replaceAll('https://api.example.com', kit.baseUrl)
    .replaceAll('https://id.example.com', kit.authUrl);
  Object.assign(globalThis, { ofResourcesFetch: kit.fetch });
  writeFileSync(fileFor('remote.ts'), asked);
  const { tools: remote } = await import(fileFor('remote.ts'));
  const token = await tokenWith('openid', 'tools:run');
  expect(await remote.check(new Request(tools, bearer(token)))).toMatchObject({
    ...{ active: true, sub: kit.user.sub },
    resources: [tools],
  });
  expect(await remote.check(new Request(tools, bearer('x')))).toMatchObject({
    status: 401,
    reason: 'inactive',
  });
});

it('checks a token for an API of its own', async () => {
  const block = blocksOf('docs/resources.md', 'ts').find((code) => code.includes('checkTool')) ?? '';
  writeFileSync(fileFor('check-tool.ts'), block);
  const { checkTool } = await import(fileFor('check-tool.ts'));
  expect(await checkTool(kit.ostiary, await tokenWith('openid', 'tools:run'))).toMatchObject({
    active: true,
  });
  const plain = await kit.accessToken(kit.clients.web, { scopes: ['openid'] });
  expect(await checkTool(kit.ostiary, plain)).toEqual({ active: false, reason: 'wrong_audience' });
});
