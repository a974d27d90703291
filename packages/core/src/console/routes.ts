import type { Core } from '../context.ts';
import type { Forms } from '../http/csrf.ts';
import type { Route } from '../http/route.ts';
import type { Webhooks } from '../webhooks/create.ts';
import { createAccess } from './access.ts';
import { seeOther } from './answer.ts';
import { changeEndpointHandler, endpointHandler } from './endpoint.ts';
import { eventHandler, redeliverHandler } from './event.ts';
import { createGuard } from './guard.ts';
import { homeHandler } from './home.ts';
import { newEndpointHandlers } from './new-endpoint.ts';
import { consolePaths, consoleUrl } from './paths.ts';
import { createSessions } from './session.ts';
import { signInHandler } from './sign-in.ts';
import { triggerHandlers } from './trigger.ts';

/** Every route of the sandbox console. */
export function consoleRoutes(core: Core, webhooks: Webhooks, forms: Forms): Route[] {
  const sessions = createSessions(core);
  const access = createAccess(core);
  const guard = createGuard(core, { sessions, access, forms });
  const page = { below: 'authUrl', errors: 'page' } as const;

  return [
    {
      path: consolePaths.home,
      summary: 'Sandbox console: endpoints and events of a partner in test mode.',
      ...page,
      handlers: { GET: homeHandler(core, webhooks, guard, forms) },
    },
    {
      path: consolePaths.signIn,
      summary: 'Signs a partner in to the sandbox console with a test key.',
      ...page,
      handlers: { POST: signInHandler(core, { sessions, access, forms }) },
    },
    {
      path: consolePaths.signOut,
      summary: 'Signs a partner out of the sandbox console.',
      ...page,
      handlers: {
        POST: guard.action(async (ctx) => {
          await sessions.end(ctx);
          seeOther(ctx, consoleUrl(core, 'home', { notice: 'signed_out' }));
        }),
      },
    },
    {
      path: consolePaths.trigger,
      summary: 'Triggers a test event, with data to edit.',
      ...page,
      handlers: triggerHandlers(core, webhooks, guard),
    },
    {
      path: consolePaths.event,
      summary: 'An event, and its deliveries with every attempt.',
      ...page,
      handlers: { GET: eventHandler(core, webhooks, guard) },
    },
    {
      path: consolePaths.redeliver,
      summary: 'Delivers an event again.',
      ...page,
      handlers: { POST: redeliverHandler(core, webhooks, guard) },
    },
    {
      path: consolePaths.endpoints,
      summary: 'Registers a webhook endpoint in test mode.',
      ...page,
      handlers: newEndpointHandlers(core, webhooks, guard),
    },
    {
      path: consolePaths.endpoint,
      summary: 'A webhook endpoint, and the deliveries to it; enables, disables or removes it.',
      ...page,
      handlers: {
        GET: endpointHandler(core, webhooks, guard),
        POST: changeEndpointHandler(core, webhooks, guard),
      },
    },
  ];
}
