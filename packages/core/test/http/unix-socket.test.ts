import { randomUUID } from 'node:crypto';
import { createServer, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { partnerProvider } from '../support/partner-api.ts';

/**
 * Starts a provider on a Unix socket, behind a proxy on TCP that appends the address of its client, as nginx
 * does.
 */
async function behindProxy(trustedProxies: readonly string[]) {
  const { provider } = await partnerProvider({ trustedProxies });
  const path = join(tmpdir(), `ostiary-${randomUUID()}.sock`);
  const server = createServer((incoming, response) => provider.ostiary.handler(incoming, response));
  await new Promise<void>((resolve) => server.listen(path, resolve));
  const proxy = createServer((incoming, response) => {
    const { method, url, headers } = incoming;
    const hops = [headers['x-forwarded-for'], incoming.socket.remoteAddress].flat().filter(Boolean);
    const forwarded = { ...headers, 'x-forwarded-for': hops.join(', ') };
    const onward = request({ socketPath: path, method, path: url, headers: forwarded }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    incoming.pipe(onward);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    proxy.closeAllConnections();
    proxy.close();
    server.closeAllConnections();
    server.close();
  });
  const address = proxy.address();
  const origin = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  const whoami = async (forwarded?: string) => {
    const { key } = await provider.key({ allowlist: ['127.0.0.1'] });
    const headers = { 'x-api-key': key, ...(forwarded !== undefined && { 'x-forwarded-for': forwarded }) };
    const answer = await fetch(`${origin}/v1/partner/whoami`, { headers });
    return [answer.status, ((await answer.json()) as { readonly address?: string }).address];
  };
  return { provider, whoami };
}

const warnings = (logged: readonly { readonly level: string; readonly message: string }[]) =>
  logged.filter(({ level, message }) => level === 'warn' && message.includes('Unix socket'));

it('a proxy on a Unix socket is trusted if `unix` is, but not the headers that its client sent', async () => {
  const { provider, whoami } = await behindProxy(['10.0.0.0/8', 'unix']);
  expect(await whoami()).toEqual([200, '127.0.0.1']);
  expect(await whoami('203.0.113.9')).toEqual([200, '127.0.0.1']);
  expect(warnings(provider.logged)).toEqual([]);
});

it('without `unix` its requests have no address, which the log says once', async () => {
  const { provider, whoami } = await behindProxy(['127.0.0.1']);
  expect([await whoami(), await whoami('127.0.0.1')]).toEqual([
    [403, undefined],
    [403, undefined],
  ]);
  expect(warnings(provider.logged)).toHaveLength(1);
});

it('`unix` trusts no connection without an address that is not on a Unix socket', async () => {
  const { provider } = await partnerProvider({ trustedProxies: ['unix'] });
  const { clientAddress } = provider.ostiary;
  const headers = { 'x-forwarded-for': '203.0.113.9' };
  expect(clientAddress({ socket: {}, headers })).toBeNull();
  expect(clientAddress({ socket: { remoteAddress: '127.0.0.1' }, headers })).toBe('127.0.0.1');
});
