import type { Context } from 'koa';
import type { Core } from '../options/context.ts';
import { isLoopback } from '../options/option-values.ts';
import type { AppToReturnTo } from '../pages/error.ts';
import { isClientId, isEnabled } from './client.ts';
import { interactionCookie, pageUrl } from './endpoints.ts';
import type { PendingInteraction } from './engine/engine.ts';
import { anonymousInteractionSeconds } from './lifetimes.ts';
import { isClientOrigin } from './redirect-uri.ts';

/** Checks whether a browser can be sent to a URL: https, or http on a loopback address. */
const isWebUrl = (url: URL): boolean =>
  url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url));

/**
 * Returns the URL of an interaction's page. Its query names the client, the origin of its redirect URI and
 * the time at which the interaction began, for the error page that the browser gets when the interaction is
 * over. By then the server stores nothing about it.
 */
export function interactionPageUrl(
  core: Core,
  { id, params, start }: PendingInteraction,
  page: 'interaction' | 'cancel',
): string {
  const url = pageUrl(core.options, page, id);
  const { client_id = '', redirect_uri = '' } = params;
  const { origin } = new URL(redirect_uri);
  const began = String(Math.floor(start.startedAt / 1000));
  // Apps with a private-use scheme have no page to go back to.
  const app = URL.canParse(origin) ? { client_id, origin } : {};
  return `${url}?${new URLSearchParams({ ...app, began })}`;
}

/**
 * Checks whether a browser sent no cookie of an interaction although it would still have one. The cookie ends
 * with the interaction, and no interaction ends sooner than {@link anonymousInteractionSeconds} after the
 * time in the query of {@link interactionPageUrl}. Makes no query, so that the response does not show whether
 * the interaction exists.
 */
export function lacksCookie({ options, clock }: Core, ctx: Context): boolean {
  const name = interactionCookie(options);
  const cookies = (ctx.req.headers.cookie ?? '').split(/; */);
  if (cookies.some((cookie) => cookie.startsWith(`${name}=`))) return false;
  const began = Number(ctx.query.began ?? Number.NaN);
  return !(began * 1000 + anonymousInteractionSeconds * 1000 <= clock.now());
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
