import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { assistantScopes, mcpUrl } from '../src/assistants.ts';
import { startKit } from './kit.ts';

const kit = await startKit();
after(() => kit.close());

const app = await kit.app({ allowedScopes: assistantScopes });

/** Signs Ana in to an assistant that gets the given scopes, and connects the assistant to the MCP server. */
async function connected(scopes: readonly (typeof assistantScopes)[number][]) {
  const fields = { handle: 'ana', password: 'kafe ak pen' };
  const { tokens } = await app.signIn({ fields, scopes, parameters: { resource: mcpUrl } });
  const client = new Client({ name: 'assistant', version: '1.0.0' });
  await client.connect(
    new StreamableHTTPClientTransport(new URL(mcpUrl), {
      fetch: (url, init) => kit.fetch(url, init),
      requestInit: { headers: { Authorization: `Bearer ${tokens.access_token}` } },
    }),
  );
  return client;
}

test('the MCP server says where to sign in', async () => {
  const answer = await kit.fetch(mcpUrl, { method: 'POST' });
  assert.equal(answer.status, 401);
  const [, url = ''] = /resource_metadata="(.*)"/.exec(answer.headers.get('www-authenticate') ?? '') ?? [];
  const document = await (await kit.fetch(url)).json();
  assert.equal(document.resource, mcpUrl);
  assert.deepEqual(document.authorization_servers, [kit.authUrl]);
});

test('an assistant calls a tool, and asks for the scope of another one', async () => {
  const reader = await connected(['openid', 'notes:read']);
  assert.deepEqual(
    (await reader.listTools()).tools.map(({ name }) => name),
    ['list_notes', 'add_note'],
  );
  const call = { name: 'add_note', arguments: { text: 'buy bread' } };
  await assert.rejects(reader.callTool(call), /insufficient_scope/);

  const writer = await connected(['openid', 'notes:read', 'notes:write']);
  await writer.callTool(call);
  const { content } = await reader.callTool({ name: 'list_notes' });
  assert.deepEqual(content, [{ type: 'text', text: 'buy bread' }]);
});

test('pages of other sites cannot call the MCP server', async () => {
  const headers = { Origin: 'https://evil.example' };
  assert.equal((await kit.fetch(mcpUrl, { method: 'POST', headers })).status, 403);
});
