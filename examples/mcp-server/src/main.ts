import { randomBytes } from 'node:crypto';
import { memoryStorage } from '@ostiary/adapter-sqlite';
import { openNotes } from './notes-service.ts';

const port = Number(process.env.PORT ?? 3000);
const site = `http://127.0.0.1:${port}`;
const { ostiary, server } = await openNotes({
  site,
  storage: memoryStorage(),
  sealingKeys: [randomBytes(32)],
  allowPrivateDocuments: true,
});
await ostiary.admin.clients.create({
  ...{ clientId: 'assistant', name: 'Assistant', public: true, loopbackPorts: 'any' },
  redirectUris: ['http://127.0.0.1/callback', 'http://localhost/callback'],
  allowedScopes: ['openid', 'offline_access', 'notes:read', 'notes:write'],
});
ostiary.worker.start();
server.listen(port, '127.0.0.1', () => {
  process.stdout.write(
    `MCP server at ${site}/mcp; a client that you register uses the client id assistant\n`,
  );
});

/** Stops the example: first new requests, then the background work and the database. */
function close(): void {
  server.close(() => void ostiary.close());
  server.closeIdleConnections();
}
process.once('SIGINT', close);
process.once('SIGTERM', close);
