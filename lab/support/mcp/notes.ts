import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { NewClient } from '@ostiary/core/admin';
import { memoryStorage } from '@ostiary/testing/memory';
import { openNotes } from '../../../examples/mcp-server/src/notes-service.ts';
import { freePort } from '../free-port.ts';

type NotesScope = 'offline_access' | 'notes:read' | 'notes:write';

/**
 * Starts the MCP server of the examples on a free port, with a provisioned client `assistant`, and a client
 * `refreshing` that always gets refresh tokens.
 */
export async function startNotes() {
  const port = await freePort();
  const site = `http://127.0.0.1:${port}`;
  const { ostiary, server } = await openNotes({
    site,
    storage: memoryStorage(),
    sealingKeys: [randomBytes(32)],
    allowPrivateDocuments: true,
  });
  await once(server.listen(port, '127.0.0.1'), 'listening');
  const provisioned: NewClient<NotesScope> = {
    ...{ name: 'Assistant', public: true, loopbackPorts: 'any', redirectUris: ['http://127.0.0.1/callback'] },
    allowedScopes: ['offline_access', 'notes:read', 'notes:write'],
  };
  const { clients } = ostiary.admin;
  await clients.create({ ...provisioned, clientId: 'assistant' });
  await clients.create({ ...provisioned, clientId: 'refreshing', refreshWithoutOfflineAccess: true });
  return {
    site,
    url: `${site}/mcp`,
    ostiary,
    async stop(): Promise<void> {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
      await ostiary.close();
    },
  };
}
