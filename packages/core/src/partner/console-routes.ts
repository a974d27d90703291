import { pageRoute } from '../http/console-pages.ts';
import type { EventStreams } from '../http/event-stream.ts';
import type { Route } from '../http/route.ts';
import type { Core } from '../options/context.ts';
import type { PartnerConsole } from '../ports/partner-console.ts';
import { type ConsoleBackendParts, createConsoleBackend } from './console-backend.ts';

/** Creates the routes for the pages of a console. */
export function consoleRoutes(
  core: Core,
  partnerConsole: PartnerConsole,
  { streams, ...parts }: ConsoleBackendParts & { readonly streams: EventStreams },
): Route[] {
  return partnerConsole
    .pages(createConsoleBackend(core, partnerConsole, parts))
    .map(({ path, summary, GET, POST }) =>
      pageRoute(core.options.logger, { path, summary, handlers: { GET, POST } }, streams),
    );
}
