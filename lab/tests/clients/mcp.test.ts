import { randomBytes } from 'node:crypto';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { fileURLToPath } from 'node:url';
import * as v2 from '@modelcontextprotocol/client';
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { NewClient } from '@ostiary/core/admin';
import { memoryStorage } from '@ostiary/testing/memory';
import { beforeAll, describe, expect, it } from 'vitest';
import { openNotes } from '../../../examples/mcp-server/src/notes-service.ts';
import { afterwards } from '../../../packages/core/test/support/running.ts';
import { certificate, privateKey } from '../../../packages/core/test/webhooks/support/target-certificate.ts';
import { Assistant, type Identity } from './support/mcp-assistant.ts';
import { type Installed, inPlace, installed, mcp } from './support/python-packages.ts';

/** A connection of an assistant to the MCP server, whose user is asked where the server wants a token. */
interface Connection {
  readonly tools: () => Promise<readonly string[]>;
  /** Calls a tool, and calls it again when the user has approved more. */
  readonly call: (name: string, parameters?: Record<string, unknown>) => Promise<unknown>;
}

const script = fileURLToPath(new URL('support/mcp_flow.py', import.meta.url));

const info = { name: 'assistant', version: '1.0.0' };

/** Runs a call; where it ends with a request to the user, finishes that and runs it again. */
async function authorized<Result>(
  call: () => Promise<Result>,
  isUnauthorized: (error: unknown) => boolean,
  finish: () => Promise<void>,
): Promise<Result> {
  try {
    return await call();
  } catch (error) {
    if (!isUnauthorized(error)) throw error;
    await finish();
    return call();
  }
}

/** The unmodified clients, by package and major version. */
const clients: { readonly [name: string]: (url: URL, assistant: Assistant) => Promise<Connection> } = {
  async '@modelcontextprotocol/sdk 1.x'(url, authProvider) {
    const open = () => new StreamableHTTPClientTransport(url, { authProvider });
    let transport = open();
    let client = new Client(info);
    const finish = () => transport.finishAuth(authProvider.callback.get('code') ?? '');
    const isUnauthorized = (error: unknown) => error instanceof UnauthorizedError;
    async function connect(): Promise<void> {
      const last = transport;
      transport = open();
      client = new Client(info);
      await last.close();
      await client.connect(transport);
    }
    await authorized(connect, isUnauthorized, finish);
    return {
      tools: async () => (await client.listTools()).tools.map(({ name }) => name),
      call: (name, parameters = {}) =>
        authorized(() => client.callTool({ name, arguments: parameters }), isUnauthorized, finish),
    };
  },

  async '@modelcontextprotocol/client 2.x'(url, authProvider) {
    const open = () => new v2.StreamableHTTPClientTransport(url, { authProvider });
    let transport = open();
    let client = new v2.Client(info);
    const finish = () => transport.finishAuth(authProvider.callback);
    const isUnauthorized = (error: unknown) => error instanceof v2.UnauthorizedError;
    async function connect(): Promise<void> {
      const last = transport;
      transport = open();
      client = new v2.Client(info);
      await last.close();
      await client.connect(transport);
    }
    await authorized(connect, isUnauthorized, finish);
    return {
      tools: async () => (await client.listTools()).tools.map(({ name }) => name),
      call: (name, parameters = {}) =>
        authorized(() => client.callTool({ name, arguments: parameters }), isUnauthorized, finish),
    };
  },
};

/** Starts the example server on a free port. */
async function startNotes() {
  const { server: probe, port } = await listening();
  probe.close();
  const site = `http://127.0.0.1:${port}`;
  const { ostiary, server } = await openNotes({
    site,
    storage: memoryStorage(),
    sealingKeys: [randomBytes(32)],
    allowPrivateDocuments: true,
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  afterwards(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await ostiary.close();
  });
  const provisioned: NewClient<'offline_access' | 'notes:read' | 'notes:write'> = {
    ...{ name: 'Assistant', public: true, loopbackPorts: 'any', redirectUris: ['http://127.0.0.1/callback'] },
    allowedScopes: ['offline_access', 'notes:read', 'notes:write'],
  };
  const { clients: admin } = ostiary.admin;
  await admin.create({ ...provisioned, clientId: 'assistant' });
  await admin.create({ ...provisioned, clientId: 'refreshing', refreshWithoutOfflineAccess: true });
  return { site, ostiary };
}

/** Publishes the metadata document of an assistant, as its makers do. Returns its URL. */
async function publish(): Promise<string> {
  const { server, port } = await listening();
  const url = `https://127.0.0.1:${port}/client.json`;
  const document = {
    client_id: url,
    client_name: 'Assistant',
    redirect_uris: ['http://127.0.0.1/callback'],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  };
  server.on('request', (_request, response) => {
    response.setHeader('Content-Type', 'application/json').end(JSON.stringify(document));
  });
  afterwards(() => {
    server.closeAllConnections();
    server.close();
  });
  return url;
}

async function listening() {
  const server = createServer({ key: privateKey, cert: certificate });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, port: (server.address() as AddressInfo).port };
}

// The certificate of the documents' server.
beforeAll(() => {
  const trusted = getCACertificates('default');
  setDefaultCACertificates([...trusted, certificate]);
  return () => setDefaultCACertificates(trusted);
});

const identities: { readonly [way: string]: () => Promise<Identity> } = {
  'a provisioned client, on any port': async () => ({ clientId: 'assistant' }),
  'a provisioned client that always gets refresh tokens': async () => ({ clientId: 'refreshing' }),
  'a metadata document': async () => ({ clientMetadataUrl: await publish() }),
};

describe.each(Object.keys(clients))('the client of %s', (name) => {
  it.each(Object.keys(identities))(
    'signs in, calls, refreshes, steps up and is shut out, with %s',
    async (way) => {
      const { site, ostiary } = await startNotes();
      const identity = (await identities[way]?.()) ?? {};
      const assistant = new Assistant(site, identity, 51_234);
      const connection = await clients[name]?.(new URL(`${site}/mcp`), assistant);
      if (connection === undefined) throw new Error('there is no such client');
      const clientId = identity.clientId ?? identity.clientMetadataUrl ?? '';

      expect(await connection.tools()).toEqual(['list_notes', 'add_note']);
      expect(assistant.pages).toHaveLength(1);
      expect(assistant.pages[0]).toContain('Read your notes');
      expect(assistant.pages[0]).not.toContain('Write notes');
      expect(/Nobody at .* has checked this app/.test(assistant.pages[0] ?? '')).toBe(
        identity.clientId === undefined,
      );
      expect(await connection.call('list_notes')).toMatchObject({ content: [{ text: '' }] });

      const refreshes = assistant.tokens()?.refresh_token !== undefined;
      // Version 2 requests offline_access, which the metadata of the service lists.
      expect(refreshes).toBe(name.endsWith('2.x') || clientId === 'refreshing');
      if (refreshes) {
        assistant.loseAccessToken();
        expect(await connection.call('list_notes')).toMatchObject({ content: [{ text: '' }] });
        expect(assistant.pages, 'a refresh asks nobody').toHaveLength(1);
      }

      if (refreshes && name.endsWith('1.x')) {
        // Version 1 refreshes where it should ask its user, and gives up.
        await expect(connection.call('add_note', { text: 'x' })).rejects.toThrow(
          '403 after trying upscoping',
        );
        return;
      }
      const added = await connection.call('add_note', { text: 'buy bread' });
      expect(added).toMatchObject({ content: [{ text: 'There are 1 notes.' }] });
      expect(assistant.pages[1]).toContain('Write notes');
      expect(assistant.tokens()?.scope?.split(' ')).toEqual(
        expect.arrayContaining(['notes:read', 'notes:write']),
      );

      const connected = await ostiary.consents.list('ana');
      expect(connected.map((app) => app.clientId)).toEqual([clientId]);
      await ostiary.consents.revoke('ana', clientId);
      const before = assistant.pages.length;
      expect(await connection.call('list_notes')).toMatchObject({ content: [{ text: 'buy bread' }] });
      expect(assistant.pages.length, 'the user was asked again').toBe(before + 1);
    },
  );
});

let library: Installed;
beforeAll(async () => {
  library = await installed(mcp);
});

it.for(Object.keys(identities))(
  'the Python package mcp signs in, steps up and refreshes, with %s',
  async (way, context) => {
    if ('missing' in library) {
      // Print the reason for the skip, which the reporter leaves out.
      console.warn(`not tested: ${library.missing}`);
      return context.skip(library.missing);
    }
    const { site } = await startNotes();
    const { clientId = '', clientMetadataUrl = '' } = (await identities[way]?.()) ?? {};
    const args = [script, `${site}/mcp`, clientId, clientMetadataUrl];
    const env = { NO_PROXY: '127.0.0.1', no_proxy: '127.0.0.1' };
    const said = await inPlace(library.bin, 'python', args, { env });
    const { pages, scope, ...rest } = JSON.parse(said.trim().split('\n').at(-1) ?? '');
    expect(rest).toEqual({
      tools: ['list_notes', 'add_note'],
      added: 'There are 1 notes.',
      refreshes: expect.any(Boolean),
      refreshed: expect.any(Boolean),
      notes: 'buy bread',
    });
    expect(scope).toEqual(expect.arrayContaining(['notes:read', 'notes:write']));
    // Without a refresh token the user is asked once more.
    expect(pages).toEqual([1, 2, rest.refreshes === true ? 2 : 3]);
  },
);
