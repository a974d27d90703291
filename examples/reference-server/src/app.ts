import type { createDoctorRoute } from '@ostiary/cli/doctor';
import type { Logger } from '@ostiary/core';
import { FormError, readableOn, scriptRoute, unlessPrefetched } from '@ostiary/web-kit';
import Koa, { type Context } from 'koa';
import type { ServerConfig } from './config.ts';
import { pageHeaders } from './http/headers.ts';
import type { HealthRoutes } from './http/health.ts';
import { showError } from './pages/error-page.ts';
import { type Branding, favicon } from './pages/layout.ts';
import { createPassportRoutes } from './passport/routes.ts';
import type { SignInContext } from './sign-in/context.ts';
import { createAccountRoutes } from './sign-in/routes.ts';
import type { StaffContext } from './staff/context.ts';
import { createStaffRoutes } from './staff/routes.ts';

type Handler = (ctx: Context) => Promise<void> | void;

type Routes = Readonly<Record<string, { readonly GET?: Handler; readonly POST?: Handler }>>;

/** Routes for operating this process, which load balancers and the doctor request. */
export interface OperationRoutes {
  readonly health: HealthRoutes;
  readonly doctor: ReturnType<typeof createDoctorRoute>;
}

function operationRoutes({ health, doctor }: OperationRoutes, branding: Branding): Routes {
  return {
    '/healthz': { GET: health.live },
    '/readyz': { GET: health.ready },
    '/doctor': {
      GET(ctx) {
        if (doctor(ctx.req, ctx.res)) ctx.respond = false;
        else showError(ctx, branding, 404);
      },
    },
  };
}

const script = (name: string) => ({ GET: scriptRoute(new URL(`../public/${name}`, import.meta.url)) });

/**
 * Wraps the handler of a page whose GET request has an effect, such as a new cookie or passport. When a
 * browser prefetches such a page, the handler does not run.
 */
const unlessAhead = (handler: Handler): Handler => {
  return (ctx) => unlessPrefetched(ctx, async () => handler(ctx));
};

/** Returns the routes of this server's own pages. Requests for Ostiary's paths do not reach them. */
export function pageRoutes(context: SignInContext): Routes {
  const account = createAccountRoutes(context);
  const passport = createPassportRoutes(context);
  const icon = favicon(context.colour, readableOn(context.colour));
  return {
    '/': { GET: unlessAhead(account.home) },
    '/login': { GET: unlessAhead(account.showLogin), POST: account.signIn },
    '/sign-out': { POST: account.signOut },
    '/passport': { GET: unlessAhead(passport.show), POST: passport.again },
    '/login.js': script('login.js'),
    '/passport.js': script('passport.js'),
    '/favicon.ico': {
      GET(ctx) {
        ctx.set('Cache-Control', 'public, max-age=86400');
        ctx.remove('Vary');
        ctx.type = 'image/svg+xml';
        ctx.body = icon;
      },
    },
  };
}

/** Returns the routes of the pages where staff sign in. */
function staffRoutes(context: StaffContext): Routes {
  const staff = createStaffRoutes(context);
  return {
    '/staff': { GET: unlessAhead(staff.account) },
    '/staff/login': { GET: unlessAhead(staff.showLogin), POST: staff.signIn },
    '/staff/login/passkey': { POST: staff.signInWithPasskey },
    '/staff/join': { GET: unlessAhead(staff.showJoin), POST: staff.joinWithPassword },
    '/staff/join/passkey': { POST: staff.joinWithPasskey },
    '/staff/passkeys': { POST: staff.addPasskey },
    '/staff/sign-out': { POST: staff.signOut },
    '/staff.js': script('staff.js'),
  };
}

/**
 * Makes the pages around Ostiary: landing page, sign-in, sign-out, passport, health, and the sign-in of staff
 * (`null` for none). A worker serves only health and `/doctor`.
 */
export function createApp(
  context: SignInContext,
  staff: StaffContext | null,
  operation: OperationRoutes,
  logger: Logger,
  role: ServerConfig['role'],
): Koa {
  const { authUrl, branding } = context;
  const routes: Routes = {
    ...(role !== 'worker' && pageRoutes(context)),
    ...(role !== 'worker' && staff !== null && staffRoutes(staff)),
    ...operationRoutes(operation, branding),
  };
  const headers = pageHeaders(authUrl, branding.style.hash);
  const app = new Koa();

  app.use(async (ctx) => {
    ctx.set(headers);
    try {
      const route = Object.hasOwn(routes, ctx.path) ? routes[ctx.path] : undefined;
      const handler = route?.[ctx.method === 'HEAD' ? 'GET' : (ctx.method as 'GET' | 'POST')];
      if (route === undefined) showError(ctx, branding, 404);
      else if (handler === undefined) {
        ctx.set('Allow', Object.keys(route).join(', '));
        showError(ctx, branding, 405);
      } else await handler(ctx);
    } catch (error) {
      if (error instanceof FormError) showError(ctx, branding, error.status);
      else {
        const unavailable = isStorageUnavailable(error);
        logger.error({ err: error }, unavailable ? 'database unavailable' : 'request failed');
        showError(ctx, branding, unavailable ? 503 : 500);
      }
    }
  });

  // Logs errors outside the middleware, such as a socket that breaks while a page is written.
  app.on('error', (error: unknown) => logger.warn({ err: error }, 'response failed'));
  return app;
}

function isStorageUnavailable(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'STORAGE_UNAVAILABLE';
}
