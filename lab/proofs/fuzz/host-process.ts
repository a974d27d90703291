// Runs a host with every option for strong clients, as a process. Started by `prove.ts`, never imported.
import { createServer } from 'node:http';
import { sqliteStorage } from '@ostiary/adapter-sqlite';
import { createOstiary, type Logger } from '@ostiary/core';
import type { NewClient } from '@ostiary/core/admin';
import { close, listen } from '../../support/http.ts';
import { options } from '../../support/processes/cluster-options.ts';
import { obey, settings } from '../../support/processes/control.ts';
import type { FuzzedHost } from './stage.ts';

const { file, sealingKey, resources, port } = settings<FuzzedHost>();
const base = options(sqliteStorage({ file }), { sealingKey });
const errors: string[] = [];
const logger: Logger = {
  ...{ debug() {}, info() {}, warn() {} },
  error(fields, message) {
    const { err } = Object(fields);
    errors.push(`${message}: ${err instanceof Error ? err.stack : String(err)}`);
  },
};
const ostiary = await createOstiary({
  ...base,
  authUrl: `http://127.0.0.1:${port}`,
  logger,
  resources,
  login: { ...base.login, acrValues: ['urn:example:gold'] },
  limits: { ...base.limits, unfinishedInteractions: 1_000_000 },
  claimsParameter: true,
  introspection: true,
  clientMetadataDocuments: { scopes: ['openid'], allowPrivateDocuments: true },
  // Each request for a document comes from another address, because an address may use 30 new documents an
  // hour.
  trustedProxies: ['127.0.0.1'],
});
const server = createServer(ostiary.handler);

const commands = {
  async create(client: NewClient) {
    const { client: created, clientSecret } = await ostiary.admin.clients.create(client);
    return { id: created.clientId, secret: clientSecret };
  },
  /**
   * Returns the heap of the process after a garbage collection, in bytes, and the errors that were logged
   * since the last call.
   */
  report() {
    globalThis.gc?.();
    return { heapBytes: process.memoryUsage().heapUsed, errors: errors.splice(0) };
  },
};

obey(commands, await listen(server, port), async () => {
  await close(server);
  await ostiary.close();
});
