import type { Forms } from '../http/csrf.ts';
import { createEventStreams } from '../http/event-stream.ts';
import type { Route } from '../http/route.ts';
import { fixedWindows } from '../limits/fixed-windows.ts';
import type { Core } from '../options/context.ts';
import type { Passports } from '../passports/passports.ts';
import { createUserLookup } from '../users/lookup.ts';
import type { Webhooks } from '../webhooks/create-webhooks.ts';
import { consoleRoutes } from './console-routes.ts';
import { historyOperations } from './handlers/history.ts';
import { inboxOperations } from './handlers/inbox.ts';
import { paymentOperations } from './handlers/payments.ts';
import { reconciliationOperations } from './handlers/reconciliation.ts';
import { requestOperations } from './handlers/requests.ts';
import { sandboxOperations } from './handlers/sandbox.ts';
import { workbenchOperations } from './handlers/workbench.ts';
import { partnerApi } from './partner-api.ts';
import { createPipeline } from './pipeline/pipeline.ts';
import { requestNotes } from './request-log.ts';
import { partnerRoutes } from './routes.ts';

/** Path of the OpenAPI description of the partner API. */
const openApiPath = '/v1/openapi.json';

/** Dependencies of the partner API. */
export interface PartnerTopics {
  readonly passports: Passports;
  readonly webhooks: Webhooks;
  readonly forms: Forms;
}

export type Partner = ReturnType<typeof createPartner>;

/** Creates the partner API and the console on top of it. */
export function createPartner(core: Core, topics: PartnerTopics) {
  const { options, storage } = core;
  const table = partnerRoutes({ core, users: createUserLookup(core), ...topics });
  const { store, per, ...groups } = options.partnerLimits;
  const limits = { store: store ?? storage.rateLimits ?? fixedWindows(), limits: groups, per };
  const pipeline = createPipeline(core, limits);
  const notes = requestNotes(core);
  const streams = createEventStreams(options.logger);
  // Operations that a console can call: every operation of the API, and those that only the consoles have.
  const operations = [
    ...table,
    ...historyOperations(core, topics.webhooks),
    ...requestOperations(core),
    ...inboxOperations(core),
    ...sandboxOperations(core, topics.webhooks),
    ...workbenchOperations(core, topics.webhooks, limits.store),
    ...paymentOperations(core),
    ...reconciliationOperations(core, limits.store),
  ];
  // Created on the first request, because it takes longer than the rest of the start.
  let description: Promise<string> | null = null;
  const describe = async () => {
    const { openApiDocument } = await import('./openapi/document.ts');
    return JSON.stringify(openApiDocument(core, table, limits));
  };
  const routes: Route[] = [
    ...partnerApi(core, table, pipeline, notes),
    ...(options.console === undefined
      ? []
      : consoleRoutes(core, options.console, {
          pipeline,
          operations,
          table,
          forms: topics.forms,
          streams,
          counts: limits.store,
        })),
    {
      path: openApiPath,
      summary: 'Description of the partner API (OpenAPI 3.1).',
      below: 'baseUrl',
      errors: 'partner',
      handlers: {
        GET: async (ctx) => {
          ctx.set({ 'Access-Control-Allow-Origin': '*', 'Cache-Control': 'no-store' });
          ctx.type = 'application/json';
          description ??= describe();
          ctx.body = await description;
        },
      },
    },
  ];
  /**
   * In the result, `forgetKeys` clears the cache of API keys, `endStreams` ends event streams, and `settled`
   * resolves when background work after responses is done.
   */
  return {
    table,
    routes,
    forgetKeys: () => pipeline.keys.clear(),
    endStreams: streams.end,
    settled: notes.settled,
  };
}
