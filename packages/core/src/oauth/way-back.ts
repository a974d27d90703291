import type { Context } from 'koa';
import type { Core } from '../context.ts';
import { isLoopback } from '../option-values.ts';
import type { AppToReturnTo } from '../pages/error.ts';
import { isClientId, isEnabled } from './client.ts';
import { pageUrl } from './endpoints.ts';
import type { PendingInteraction } from './engine/engine.ts';
import { isClientOrigin } from './redirect-uri.ts';

/** Whether a browser can be sent there: https, or http on a loopback address. */
const isWebUrl = (url: URL): boolean =>
  url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url));

/**
 * Returns the URL of an interaction's page. Its query names the client and the origin of its redirect URI, for the error page that
 * the browser gets when the interaction is over: nothing else is stored of it then.
 */
export function interactionPageUrl(
  core: Core,
  { id, params }: PendingInteraction,
  page: 'interaction' | 'cancel',
): string {
  const url = pageUrl(core.options, page, id);
  const { client_id = '', redirect_uri = '' } = params;
  const { origin } = new URL(redirect_uri);
  // Apps with a private-use scheme have no page to go back to.
  if (!URL.canParse(origin)) return url;
  return `${url}?${new URLSearchParams({ client_id, origin })}`;
}

/**
 * Finds the app at which the user of an interaction that is over can begin again, by the query of {@link interactionPageUrl}.
 * Anybody can write such a URL: an origin without a redirect URI of that client returns `null`.
 */
export async function findAppToReturnTo({ storage }: Core, ctx: Context): Promise<AppToReturnTo | null> {
  const { client_id, origin } = ctx.query;
  if (typeof client_id !== 'string' || !isClientId(client_id)) return null;
  if (typeof origin !== 'string' || !URL.canParse(origin) || !isWebUrl(new URL(origin))) return null;
  const client = await storage.clients.find(client_id);
  if (!isEnabled(client) || !isClientOrigin(client, origin)) return null;
  return { name: client.name, url: new URL(origin).href };
}
