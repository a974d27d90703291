import * as v2 from '@modelcontextprotocol/client';
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Assistant } from './assistant.ts';

/**
 * A connection of an assistant to an MCP server. The user is asked to sign in when the server requires a
 * token.
 */
export interface Connection {
  readonly tools: () => Promise<readonly string[]>;
  /** Calls a tool, and calls the tool again after the user approved more scopes. */
  readonly call: (name: string, parameters?: Record<string, unknown>) => Promise<unknown>;
}

const info = { name: 'assistant', version: '1.0.0' };

/**
 * Makes a call of an MCP client. If the call fails because the user must authorize the client, finishes the
 * authorization and repeats the call.
 */
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

/** Functions that connect an assistant with an unmodified MCP client, by package and major version. */
export const connections: {
  readonly [name: string]: (url: URL, assistant: Assistant) => Promise<Connection>;
} = {
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
