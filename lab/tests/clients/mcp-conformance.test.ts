import { createServer, request as send } from 'node:http';
import { beforeAll, describe, expect, it } from 'vitest';
import { anaika, startServer } from '../../../examples/reference-server/test/support/server.ts';
import { afterwards } from '../../../packages/core/test/support/running.ts';
import { freePort } from '../../support/free-port.ts';
import { Assistant } from '../../support/mcp/assistant.ts';
import { connections } from '../../support/mcp/connections.ts';
import { startNotes } from '../../support/mcp/notes.ts';
import { SignInBrowser } from '../../support/mcp/sign-in-browser.ts';
import { scenarioNames, statuses } from './support/mcp-conformance.ts';

/**
 * Scenarios of the MCP conformance suite that any MCP server can pass, even with other tools than the suite's
 * own server.
 */
const forEveryServer = ['server-initialize', 'ping', 'tools-list', 'dns-rebinding-protection'];

/** Scenarios of the MCP conformance suite that are not run, as patterns of their names, with the reason. */
const notRun: readonly (readonly [RegExp, string])[] = [
  [/^(tools-call-|json-schema-)/, 'calls tools with fixed names of the suite’s own server'],
  [/^(resources|prompts)-|^sep-2164-/, 'the server has neither resources nor prompts'],
  [
    /^(logging-set-level|completion-complete|elicitation-|server-sse-|server-session-lifecycle)/,
    'an optional feature of a stateful server',
  ],
  [
    /^(server-stateless|caching|input-required-result-|http-)/,
    'the revision 2026-07-28, which the SDK 1.x does not have',
  ],
  [/^(tasks-|sep-2640-)/, 'an extension'],
];

/**
 * Checks whether a check of the MCP conformance suite passed. The suite reports `INFO` for something optional
 * that the server does not have.
 */
const isFine = (status: string): boolean => status === 'SUCCESS' || status.startsWith('INFO');

const authorizationScenarios = {
  'authorization-server-metadata-endpoint': {
    'authorization-server-metadata': 'SUCCESS',
    'authorization-server-metadata-cimd': 'SUCCESS',
  },
  'authorization-code-grant': { 'authorization-code-grant': 'SUCCESS' },
};

/** Runs all scenarios for an authorization server. In each scenario a user signs in with the browser. */
async function testAuthorizationServer(site: string, browser: SignInBrowser, ...more: readonly string[]) {
  const port = await freePort();
  const redirectUri = `http://127.0.0.1:${port}/callback`;
  let walk: Promise<unknown> | null = null;
  const results = await statuses(
    ['authorization', '--url', site, '--client-id', 'suite', '--port', String(port), ...more],
    (output) => {
      const [url] = /^http\S+\/oauth\/authorize\?\S+(?=\n)/m.exec(output) ?? [];
      if (url !== undefined) walk ??= browser.walk(url, redirectUri).then((callback) => fetch(callback));
    },
  );
  await walk;
  return results;
}

/** OAuth client of the conformance suite, which requests no scope. */
const suite = {
  clientId: 'suite',
  name: 'Suite',
  public: true,
  loopbackPorts: 'any',
  redirectUris: ['http://127.0.0.1/callback'],
} as const;

let service: Awaited<ReturnType<typeof startNotes>>;
beforeAll(async () => {
  service = await startNotes();
  return () => service.stop();
});

describe('the conformance suite of MCP', () => {
  it('has no other scenario for an authorization server than those that are run', async () => {
    expect(await scenarioNames('authorization')).toEqual(Object.keys(authorizationScenarios));
  });

  it('finds no fault in the authorization server of an MCP server', async () => {
    const scopes = { allowedScopes: ['notes:read'], defaultScope: 'notes:read' } as const;
    await service.ostiary.admin.clients.create({ ...suite, ...scopes });
    const browser = new SignInBrowser();
    const results = await testAuthorizationServer(service.site, browser, '--resource', service.url);
    expect(results).toEqual(authorizationScenarios);
    expect(browser.consentPages[0]).toContain('Read your notes');
  });

  it('finds no fault in the reference server', async () => {
    const { server, origin } = await startServer({}, { OSTIARY_CLIENT_DOCUMENT_SCOPES: 'openid,profile' });
    const scopes = { allowedScopes: ['openid', 'profile'], defaultScope: 'openid profile' } as const;
    await server.installation.ostiary.admin.clients.create({ ...suite, ...scopes });
    const { handle, password } = anaika;
    const browser = new SignInBrowser({ handle, password });
    expect(await testAuthorizationServer(origin, browser)).toEqual(authorizationScenarios);
    expect(browser.consentPages).toHaveLength(1);
  });

  it('has no other scenario for a server than those that are run or left out for a reason', async () => {
    const names = await scenarioNames('server');
    expect(names).toEqual(expect.arrayContaining(forEveryServer));
    const unknown = names.filter(
      (name) => !forEveryServer.includes(name) && !notRun.some(([pattern]) => pattern.test(name)),
    );
    expect(unknown).toEqual([]);
  });

  it.each(forEveryServer)('finds no fault in the protected MCP server: %s', async (scenario) => {
    const url = await withToken(service.url);
    const results = await statuses(['server', '--url', url, '--scenario', scenario]);
    const [checks = {}] = Object.values(results);
    expect(Object.keys(checks).length).toBeGreaterThan(0);
    expect(Object.entries(checks).filter(([, status]) => !isFine(status))).toEqual([]);
  });
});

/**
 * Signs a user in, and returns the URL of a proxy that adds the user's token to each request, because the
 * conformance suite cannot sign in to a server.
 */
async function withToken(url: string): Promise<string> {
  const assistant = new Assistant(service.site, { clientId: 'assistant' }, 51_234);
  await connections['@modelcontextprotocol/client 2.x']?.(new URL(url), assistant);
  const authorization = `Bearer ${assistant.tokens()?.access_token}`;
  const port = await freePort();
  const own = `127.0.0.1:${port}`;
  const { host } = new URL(url);
  const proxy = createServer((request, response) => {
    const { method, headers } = request;
    // Names of the proxy become those of the server. Names of others stay.
    const named = Object.entries(headers).map(([name, value]) => [
      name,
      ['host', 'origin'].includes(name) ? String(value).replace(own, host) : value,
    ]);
    const passed = send(
      url,
      { method, headers: { ...Object.fromEntries(named), authorization } },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      },
    );
    request.pipe(passed);
  });
  await new Promise<void>((resolve) => proxy.listen(port, '127.0.0.1', resolve));
  afterwards(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  return `http://${own}/mcp`;
}
