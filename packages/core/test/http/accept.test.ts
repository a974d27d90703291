import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Koa, { type Context } from 'koa';
import { describe, expect, it } from 'vitest';
import { isBrowser, prefersJson } from '../../src/http/accept.ts';

/** What both questions answer for an Accept header, asked of a real request. */
async function asked(accept: string): Promise<readonly [browser: boolean, json: boolean]> {
  const app = new Koa();
  app.use((ctx: Context) => {
    ctx.body = [isBrowser(ctx), prefersJson(ctx)];
  });
  const server = createServer(app.callback());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, {
    headers: { accept },
  });
  const answer = (await response.json()) as [boolean, boolean];
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  return answer;
}

describe('what a caller would rather read', () => {
  it.each([
    ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', true, false],
    ['text/html', true, false],
    ['application/xhtml+xml, text/html;q=0.5', true, false],
    ['application/json', false, true],
    ['application/json, text/html;q=0.9', false, true],
    ['text/html;q=0.9, application/json', false, true],
    ['text/html, application/json', true, false],
    ['application/json, */*;q=0.5', false, true],
    ['*/*', false, false],
    ['', false, false],
    ['image/png', false, false],
    ['text/html;q=0, application/json', false, true],
  ])('with Accept: %s is told', async (accept, browser, json) => {
    expect(await asked(accept)).toEqual([browser, json]);
  });
});
