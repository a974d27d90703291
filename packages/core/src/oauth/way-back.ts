import type { Context } from 'koa';
import type { Core } from '../options/context.ts';
import { isLoopback } from '../options/option-values.ts';
import type { AppToReturnTo } from '../pages/error.ts';
import { findClient, isEnabled } from './client.ts';
import { interactionCookie, pageUrl } from './endpoints.ts';
import type { PendingInteraction } from './engine/engine.ts';
import { anonymousInteractionSeconds } from './lifetimes.ts';
import { isClientOrigin } from './redirect-uri.ts';

/** Checks whether the error page may link to a URL: https, or http on a loopback address. */
const isWebUrl = (url: URL): boolean =>
  url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url));

/**
 * Returns the URL of an interaction's page. Its query contains the client, the origin of its redirect URI and
 * the start time, for the error page that the browser gets after the interaction has expired. By then the
 * server stores nothing about it.
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
  // Apps with a private-use scheme have no web page to return to.
  const app = URL.canParse(origin) ? { client_id, origin } : {};
  return `${url}?${new URLSearchParams({ ...app, began })}`;
}

/**
 * Checks whether a browser sent no interaction cookie although it should still have one. The cookie of an
 * unfinished interaction does not expire sooner than {@link anonymousInteractionSeconds} after the start time
 * in the URL; see {@link interactionPageUrl}. True without a start time. Makes no query, so that the response
 * does not show whether the interaction exists.
 */
export function lacksCookie({ options, clock }: Core, ctx: Context): boolean {
  const name = interactionCookie(options);
  const cookies = (ctx.req.headers.cookie ?? '').split(/; */);
  if (cookies.some((cookie) => cookie.startsWith(`${name}=`))) return false;
  const began = Number(ctx.query.began ?? Number.NaN);
  return !(began * 1000 + anonymousInteractionSeconds * 1000 <= clock.now());
}

/**
 * Finds the app in which the user of an expired interaction can start again, from the query of {@link
 * interactionPageUrl}. Anyone can write such a URL, so it returns `null` if the client has no redirect URI
 * with that origin.
 */
export async function findAppToReturnTo(core: Core, ctx: Context): Promise<AppToReturnTo | null> {
  const { client_id, origin } = ctx.query;
  if (typeof client_id !== 'string') return null;
  if (typeof origin !== 'string' || !URL.canParse(origin) || !isWebUrl(new URL(origin))) return null;
  const client = await findClient(core, client_id);
  if (!isEnabled(client) || !isClientOrigin(client, origin)) return null;
  return { name: client.name, url: new URL(origin).href };
}
