import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { descriptionOf, operationsOf } from '../../../../packages/core/test/support/openapi.ts';
import { partnerProvider } from '../../../../packages/core/test/support/partner-api.ts';
import { sink } from '../../../../packages/core/test/webhooks/support/sink.ts';

/** Folder for files that tests generate and may generate again. */
export const cache = fileURLToPath(new URL('../../../../node_modules/.cache/', import.meta.url));

/** Folder with the packages that generated clients import. */
const installed = fileURLToPath(new URL('../../../node_modules/', import.meta.url));

/** Creates a folder in which packages of the lab are found; the folder is removed after the test. */
export function generatedFolder(name: string): string {
  const folder = mkdtempSync(join(installed, `.${name}-`));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A server, and the ids that a generated client needs to call every operation. */
export type Subject = Awaited<ReturnType<typeof subject>>;

/**
 * Starts a real server with all objects that the operations of a generated client need. The server is stopped
 * after the test.
 */
export async function subject() {
  const { provider } = await partnerProvider({ webhooks: { allowPrivateTargets: true } });
  const { key, partner } = await provider.key({ mode: 'test' });
  return {
    /** OpenAPI description in the form in which the server publishes it. */
    document: (await provider.request('/v1/openapi.json')).text,
    operations: operationsOf(await descriptionOf(provider)).map(({ operation }) => operation.operationId),
    baseUrl: provider.origin,
    apiKey: key,
    /**
     * Runs due deliveries and jobs, once the client has registered an endpoint with the URL `inbox:listen`.
     */
    async deliver() {
      const endpoints = await provider.ostiary.admin.webhooks.list({ partner, mode: 'test' });
      if (endpoints.some(({ url }) => url === 'inbox:listen')) await provider.ostiary.worker.runDue();
    },
    /** URL of a webhook endpoint. */
    hook: (await sink()).url,
    /** Today's date, for an export of transfers. */
    day: new Date(provider.clock.now()).toISOString().slice(0, 10),
  };
}
