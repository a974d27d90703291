import { pageRoute } from '../http/console-pages.ts';
import type { EventStreams } from '../http/event-stream.ts';
import type { Route } from '../http/route.ts';
import type { Core } from '../options/context.ts';
import type { PartnerConsole } from '../ports/partner-console.ts';
import { createConsoleBackend } from './console-backend.ts';
import type { ConsoleBackendParts } from './console-settings.ts';
import { createPortalBackend } from './portal-backend.ts';

/** Creates the routes for the pages of a console and of its live portal, if the console has one. */
export function consoleRoutes(
  core: Core,
  partnerConsole: PartnerConsole,
  { streams, ...parts }: ConsoleBackendParts & { readonly streams: EventStreams },
): Route[] {
  const pages = partnerConsole.pages(createConsoleBackend(core, partnerConsole, parts));
  const portalPages = partnerConsole.portal?.pages(createPortalBackend(core, parts)) ?? [];
  return [...pages, ...portalPages].map(({ path, summary, GET, POST }) =>
    pageRoute(core.options.logger, { path, summary, handlers: { GET, POST } }, streams),
  );
}
