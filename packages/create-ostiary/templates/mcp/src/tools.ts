import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { UserRecord } from '@ostiary/core';
import { z } from 'zod';

// REPLACE THIS by your own tools.

/** Scopes of the tools that need more than the scopes which every request needs. */
const scopesOfTools: ReadonlyMap<string, readonly string[]> = new Map([['add_note', ['notes:write']]]);

/** Notes of each user. They are lost when the process ends and are not shared with other processes. */
const notes = new Map<string, readonly string[]>();

const mostNotes = 100;

/** Makes the MCP server for one request of a user. */
export function mcpServer({ sub }: UserRecord): McpServer {
  const server = new McpServer({ name: '{{name}}', version: '1.0.0' });
  const own = () => notes.get(sub) ?? [];
  const answer = (text: string) => ({ content: [{ type: 'text' as const, text }] });

  server.registerTool('list_notes', { description: 'Lists the notes of the user.', inputSchema: {} }, () =>
    answer(own().join('\n')),
  );
  server.registerTool(
    'add_note',
    { description: 'Adds a note.', inputSchema: { text: z.string().min(1).max(1000) } },
    ({ text }) => {
      notes.set(sub, [...own(), text].slice(-mostNotes));
      return answer(`Number of notes: ${own().length}.`);
    },
  );
  return server;
}

const toolCall = z.object({ method: z.literal('tools/call'), params: z.object({ name: z.string() }) });

/** Returns the scopes that a JSON-RPC message needs for the tool that it calls. */
export function scopesOf(message: unknown): readonly string[] {
  const { data } = toolCall.safeParse(message);
  return scopesOfTools.get(data?.params.name ?? '') ?? [];
}
