import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { afterwards } from '../../../packages/core/test/support/running.ts';
import { certificate, privateKey } from '../../../packages/core/test/webhooks/support/target-certificate.ts';
import { freePort } from '../../support/free-port.ts';
import { Assistant, type Identity } from '../../support/mcp/assistant.ts';
import { connections } from '../../support/mcp/connections.ts';
import { startNotes } from '../../support/mcp/notes.ts';
import { SignInBrowser } from '../../support/mcp/sign-in-browser.ts';
import { Inspector } from './support/inspector.ts';
import { type Installed, inPlace, installed, mcp } from './support/python-packages.ts';

const script = fileURLToPath(new URL('support/mcp_flow.py', import.meta.url));

/** Starts the example MCP server. */
async function startService() {
  const service = await startNotes();
  afterwards(() => service.stop());
  return service;
}

/**
 * Publishes the client metadata document of an AI assistant, as the assistant's makers do. Returns the
 * document's URL.
 */
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

// Trust the certificate of the server of the metadata documents.
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

describe.each(Object.keys(connections))('the client of %s', (name) => {
  it.each(Object.keys(identities))(
    'signs in, calls, refreshes, steps up and is shut out, with %s',
    async (way) => {
      const { site, url, ostiary } = await startService();
      const identity = (await identities[way]?.()) ?? {};
      const assistant = new Assistant(site, identity, 51_234);
      const connection = await connections[name]?.(new URL(url), assistant);
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

      const stepsUp = !refreshes || name.endsWith('2.x');
      const add = connection.call('add_note', { text: 'buy bread' });
      if (stepsUp) {
        expect(await add).toMatchObject({ content: [{ text: 'Number of notes: 1.' }] });
        expect(assistant.pages[1]).toContain('Write notes');
        expect(assistant.tokens()?.scope?.split(' ')).toEqual(
          expect.arrayContaining(['notes:read', 'notes:write']),
        );
      } else {
        // Version 1 refreshes where it should ask its user, and gives up.
        await expect(add).rejects.toThrow('403 after trying upscoping');
      }

      const connected = await ostiary.consents.list('ana');
      expect(connected.map((app) => app.clientId)).toEqual([clientId]);
      await ostiary.consents.revoke('ana', clientId);
      const before = assistant.pages.length;
      const notes = stepsUp ? 'buy bread' : '';
      expect(await connection.call('list_notes')).toMatchObject({ content: [{ text: notes }] });
      expect(assistant.pages.length, 'the user was asked again').toBe(before + 1);
    },
  );
});

it.each(Object.keys(identities))(
  'the command line of the inspector signs in, calls, refreshes, steps up and is shut out, with %s',
  async (way) => {
    const { url, ostiary } = await startService();
    const identity = (await identities[way]?.()) ?? {};
    const browser = new SignInBrowser();
    const inspector = new Inspector(url, identity, await freePort(), browser);
    afterwards(() => inspector.remove());
    const call = ['--method', 'tools/call', '--tool-name'];

    expect(await inspector.run('--method', 'tools/list')).toMatchObject({
      code: 0,
      result: { tools: [{ name: 'list_notes' }, { name: 'add_note' }] },
    });
    expect(browser.consentPages).toHaveLength(1);
    expect(browser.consentPages[0]).not.toContain('Write notes');
    // A later run uses the stored tokens.
    expect(await inspector.run(...call, 'list_notes')).toMatchObject({ code: 0 });
    const before = inspector.storedTokens();
    expect(await inspector.run('--use-stored-auth', ...call, 'list_notes')).toMatchObject({ code: 0 });
    expect(inspector.storedTokens(), 'the tokens were refreshed').not.toBe(before);
    expect(browser.consentPages).toHaveLength(1);

    const added = await inspector.run(...call, 'add_note', '--tool-arg', 'text=buy bread');
    expect(added).toMatchObject({ code: 0, result: { content: [{ text: 'Number of notes: 1.' }] } });
    expect(browser.consentPages).toHaveLength(2);
    expect(browser.consentPages[1]).toContain('Write notes');

    await ostiary.consents.revoke('ana', identity.clientId ?? identity.clientMetadataUrl ?? '');
    expect(await inspector.run('--stored-auth-only', ...call, 'list_notes')).toMatchObject({ code: 3 });
    const again = await inspector.run(...call, 'list_notes');
    expect(again).toMatchObject({ code: 0, result: { content: [{ text: 'buy bread' }] } });
    expect(browser.consentPages, 'the user was asked again').toHaveLength(3);
  },
  120_000,
);

let library: Installed;
beforeAll(async () => {
  library = await installed(mcp);
});

it.for(Object.keys(identities))(
  'the Python package mcp signs in, steps up, refreshes and is shut out, with %s',
  async (way, context) => {
    if ('missing' in library) {
      // Print the reason for the skip, which the reporter leaves out.
      console.warn(`not tested: ${library.missing}`);
      return context.skip(library.missing);
    }
    const { url } = await startService();
    const { clientId = '', clientMetadataUrl = '' } = (await identities[way]?.()) ?? {};
    const args = [script, url, clientId, clientMetadataUrl];
    const env = { NO_PROXY: '127.0.0.1', no_proxy: '127.0.0.1' };
    const said = await inPlace(library.bin, 'python', args, { env });
    const { pages, scope, ...rest } = JSON.parse(said.trim().split('\n').at(-1) ?? '');
    expect(rest).toEqual({
      tools: ['list_notes', 'add_note'],
      added: 'Number of notes: 1.',
      refreshes: expect.any(Boolean),
      refreshed: expect.any(Boolean),
      notes: 'buy bread',
      reconnected: 'buy bread',
    });
    expect(scope).toEqual(expect.arrayContaining(['notes:read', 'notes:write']));
    // Without a refresh token the user is asked once more, and in any case after the app was removed.
    expect(pages).toEqual(rest.refreshes === true ? [1, 2, 2, 3] : [1, 2, 3, 4]);
  },
);
