import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { descriptionOf, operationsOf } from '../../../../packages/core/test/support/openapi.ts';
import { partnerProvider } from '../../../../packages/core/test/support/partner-api.ts';
import { sink } from '../../../../packages/core/test/webhooks/support/sink.ts';

/** Where things are kept that are made by tests and may be made again. */
export const cache = fileURLToPath(new URL('../../../../node_modules/.cache/', import.meta.url));

/** Where the packages are found that generated clients import. */
const installed = fileURLToPath(new URL('../../../node_modules/', import.meta.url));

/** A folder in which packages of the lab are found; it is removed after the test. */
export function generatedFolder(name: string): string {
  const folder = mkdtempSync(join(installed, `.${name}-`));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** What a generated client needs to call every operation of a real server. */
export type Subject = Awaited<ReturnType<typeof subject>>;

/** A real server, with everything that its operations need; stopped after the test. */
export async function subject() {
  const { provider } = await partnerProvider({ webhooks: { allowPrivateTargets: true } });
  const { key } = await provider.key({ mode: 'test' });
  return {
    /** The description, as the server gives it, and the ids of all its operations. */
    document: (await provider.request('/v1/openapi.json')).text,
    operations: operationsOf(await descriptionOf(provider)).map(({ operation }) => operation.operationId),
    baseUrl: provider.origin,
    apiKey: key,
    /** An endpoint for webhooks. */
    hook: (await sink()).url,
    /** Today, for the export. */
    day: new Date(provider.clock.now()).toISOString().slice(0, 10),
  };
}
