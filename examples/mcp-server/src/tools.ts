import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { z } from 'zod';

/** Scope that every request to the MCP server needs. */
export const readScope = 'notes:read';
/** Scope that the tool `add_note` needs in addition. */
export const writeScope = 'notes:write';

/** Notes of each user, in memory. */
export type Notes = Map<string, string[]>;

const toolCall = z.object({ method: z.literal('tools/call'), params: z.object({ name: z.string() }) });

/** Returns the scopes that a JSON-RPC message needs in addition to `notes:read`. */
export function scopesOf(message: unknown): readonly string[] {
  return toolCall.safeParse(message).data?.params.name === 'add_note' ? [writeScope] : [];
}

/** Makes the MCP server for one request of a user. */
export function notesServer(notes: Notes, sub: string): McpServer {
  const server = new McpServer({ name: 'notes', version: '1.0.0' });
  const own = () => notes.get(sub) ?? [];
  const answer = (text: string) => ({ content: [{ type: 'text' as const, text }] });

  server.registerTool('list_notes', { description: 'Lists the notes of the user.', inputSchema: {} }, () =>
    answer(own().join('\n')),
  );
  server.registerTool(
    'add_note',
    { description: 'Adds a note.', inputSchema: { text: z.string().min(1).max(1000) } },
    ({ text }) => {
      notes.set(sub, [...own(), text]);
      return answer(`Number of notes: ${own().length}.`);
    },
  );
  return server;
}
