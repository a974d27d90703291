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

/** Creates a folder in which packages of the lab are found; it is removed after the test. */
export function generatedFolder(name: string): string {
  const folder = mkdtempSync(join(installed, `.${name}-`));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A server, and the ids that a generated client needs to call every operation. */
export type Subject = Awaited<ReturnType<typeof subject>>;

/** Starts a real server with all objects that its operations need. It is stopped after the test. */
export async function subject() {
  const { provider } = await partnerProvider({ webhooks: { allowPrivateTargets: true } });
  const { key, partner } = await provider.key({ mode: 'test' });
  return {
    /** OpenAPI description as it is served. */
    document: (await provider.request('/v1/openapi.json')).text,
    operations: operationsOf(await descriptionOf(provider)).map(({ operation }) => operation.operationId),
    baseUrl: provider.origin,
    apiKey: key,
    /** Makes the attempts and jobs that are due, once there is an endpoint that waits for its deliveries. */
    async deliver() {
      const endpoints = await provider.ostiary.admin.webhooks.list({ partner, mode: 'test' });
      if (endpoints.some(({ url }) => url === 'inbox:listen')) await provider.ostiary.worker.runDue();
    },
    /** URL of an endpoint for webhooks. */
    hook: (await sink()).url,
    /** Date of today, for an export. */
    day: new Date(provider.clock.now()).toISOString().slice(0, 10),
  };
}
