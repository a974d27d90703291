import type { Context } from 'koa';
import type { Handler } from '../http/route.ts';
import type { Core } from '../options/context.ts';
import type { ClientRecord } from '../ports/clients.ts';
import { anyPortOrigin, isClientOrigin } from './redirect-uri.ts';

/** Checks whether an enabled client has a redirect URI of this origin. */
async function isRegisteredOrigin(core: Core, origin: string): Promise<boolean> {
  const { clients } = core.storage;
  if (await clients.originRegistered(origin)) return true;
  const anyPort = anyPortOrigin(origin);
  return anyPort !== null && clients.originRegistered(anyPort);
}

/**
 * Allows pages of the request's origin to read the response, also an error (CORS). The origin must be that of
 * a redirect URI: of this client or, if the client is not known yet, of any enabled client. Never allows
 * cookies. A later call may narrow what an earlier call allowed.
 */
export async function allowOriginOf(core: Core, ctx: Context, client: ClientRecord | null): Promise<boolean> {
  const origin = ctx.req.headers.origin;
  // Set later, together with the headers of `ctx.state.headers`, unless the host has set `Vary` already.
  if (origin === undefined && !ctx.res.hasHeader('Vary')) {
    ctx.state.headers.Vary = 'Origin';
    return false;
  }
  ctx.vary('Origin');
  if (origin === undefined) return false;
  const allowed = client === null ? await isRegisteredOrigin(core, origin) : isClientOrigin(client, origin);
  if (allowed) {
    ctx.set('Access-Control-Allow-Origin', origin);
    ctx.set('Access-Control-Expose-Headers', 'Retry-After, WWW-Authenticate, X-Request-Id');
  } else {
    ctx.remove('Access-Control-Allow-Origin');
    ctx.remove('Access-Control-Expose-Headers');
  }
  return allowed;
}

/** Narrows the origins that may read the response to those of one client, once the client is known. */
export async function narrowOriginTo(core: Core, ctx: Context, clientId: string): Promise<void> {
  if (ctx.req.headers.origin === undefined) return;
  await allowOriginOf(core, ctx, await core.storage.clients.find(clientId));
}

/**
 * Allows every header that a CORS preflight request names: monitoring and HTTP libraries add headers, such as
 * `traceparent`, and no header gives a page more rights than any other program that sends the header.
 */
function allowPreflight(ctx: Context, methods: readonly string[]): void {
  ctx.vary('Access-Control-Request-Headers');
  ctx.set('Access-Control-Allow-Methods', methods.join(', '));
  const asked = ctx.get('Access-Control-Request-Headers');
  if (asked !== '') ctx.set('Access-Control-Allow-Headers', asked);
  ctx.set('Access-Control-Max-Age', '600');
}

/** Creates the handler for preflight requests to an API endpoint (Fetch standard, "CORS protocol"). */
export function preflightHandler(core: Core, methods: readonly string[]): Handler {
  return async (ctx) => {
    if (await allowOriginOf(core, ctx, null)) allowPreflight(ctx, methods);
    ctx.status = 204;
  };
}

/** Responds to a CORS preflight request for a public document: every origin is allowed. */
export function openPreflight(ctx: Context): void {
  allowAnyOrigin(ctx);
  allowPreflight(ctx, ['GET', 'HEAD']);
  ctx.status = 204;
}

/** Allows pages of every origin to read the response (CORS). For public documents. */
export function allowAnyOrigin(ctx: Context): void {
  ctx.set('Access-Control-Allow-Origin', '*');
}
