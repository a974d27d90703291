import { OAuthError } from '../errors.ts';
import type { Handler } from '../http/route.ts';
import type { Core } from '../options/context.ts';
import type { ClientRecord } from '../ports/clients.ts';
import { isClientId } from './client.ts';
import { pageUrl } from './endpoints.ts';

/** Returns the URL of a client's logo; `null` if the client has none. A new logo gets a new URL. */
export function logoUrl({ options }: Core, { clientId, logo }: ClientRecord): string | null {
  return logo ? `${pageUrl(options, 'logo', clientId)}?v=${logo}` : null;
}

/** Creates the handler that serves logos of clients. */
export function logoHandler({ storage }: Core): Handler {
  return async (ctx) => {
    const { id } = ctx.params;
    const png = isClientId(id) ? await storage.clients.findLogo(id) : null;
    if (png === null) throw new OAuthError('not_found');
    ctx.set('Cache-Control', 'public, max-age=31536000, immutable');
    ctx.set('Content-Security-Policy', "default-src 'none'");
    ctx.set('Cross-Origin-Resource-Policy', 'same-origin');
    ctx.type = 'image/png';
    ctx.body = Buffer.from(png);
  };
}
