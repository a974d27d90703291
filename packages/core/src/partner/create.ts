import type { Core } from '../context.ts';
import { fixedWindows } from '../fixed-windows.ts';
import type { Route } from '../http/route.ts';
import type { Passports } from '../passports/passports.ts';
import { createUserLookup } from '../users/lookup.ts';
import type { Webhooks } from '../webhooks/create.ts';
import { createPartnerApi } from './app.ts';
import { openApiDocument } from './openapi/document.ts';
import type { PartnerRoute } from './request.ts';
import { partnerRoutes } from './routes.ts';

/** Where the description of the partner API is. */
export const openApiPath = '/v1/openapi.json';

/** The partner API as the host sees it. */
export interface Partner {
  readonly routes: readonly Route[];
  readonly table: readonly PartnerRoute[];
  /** Forgets cached keys. */
  forgetKeys(): void;
}

/** Builds the partner API. */
export function createPartner(
  core: Core,
  topics: {
    readonly passports: Passports;
    readonly webhooks: Webhooks;
  },
): Partner {
  const table = partnerRoutes({ core, users: createUserLookup(core), ...topics });
  const { store, per, ...groups } = core.options.partnerLimits;
  const limits = { store: store ?? core.storage.rateLimits ?? fixedWindows(), limits: groups, per };
  const api = createPartnerApi(core, table, limits);
  // Made when somebody asks for it: it takes longer than the rest of the start.
  let description: string | null = null;
  return {
    table,
    routes: [
      ...api.routes,
      {
        path: openApiPath,
        summary: 'Description of the partner API (OpenAPI 3.1).',
        below: 'baseUrl',
        errors: 'partner',
        handlers: {
          GET: (ctx) => {
            ctx.set({ 'Access-Control-Allow-Origin': '*', 'Cache-Control': 'no-store' });
            ctx.type = 'application/json';
            description ??= JSON.stringify(openApiDocument(core, table, limits));
            ctx.body = description;
          },
        },
      },
    ],
    forgetKeys: () => api.keys.clear(),
  };
}
