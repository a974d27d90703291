import type { Context } from 'koa';
import type { Core } from '../context.ts';
import { setLivePageHeaders, setNoStore } from '../http/headers.ts';
import type { ConsoleContext, ConsolePage } from '../pages/console/frame.ts';
import { consoleWords } from '../pages/console/text.ts';
import type { Notice } from '../pages/console/words.ts';
import { negotiateLanguage } from '../pages/language.ts';
import type { Language } from '../scopes.ts';
import { consoleUrl } from './paths.ts';
import type { Visit } from './visit.ts';

/** Sends the browser on with a GET. */
export function seeOther(ctx: Context, location: string): void {
  setNoStore(ctx);
  ctx.status = 303;
  ctx.set('Location', location);
  ctx.body = '';
}

/** The language that the browser asks for. */
export function languageOf(ctx: Context): Language {
  return negotiateLanguage(undefined, ctx.get('Accept-Language'));
}

/** What the address says has just happened. */
export function noticeOf(ctx: Context): Notice | null {
  const { notice } = ctx.query;
  const isNotice = typeof notice === 'string' && Object.hasOwn(consoleWords.en.notices, notice);
  return isNotice ? (notice as Notice) : null;
}

/** What every page of a signed-in partner needs. */
export function contextOf(
  core: Core,
  ctx: Context,
  { owner, csrfToken }: Visit,
  url: string,
): ConsoleContext {
  return {
    theme: core.options.theme,
    language: languageOf(ctx),
    partner: owner.partner,
    csrfToken,
    homeUrl: consoleUrl(core, 'home'),
    exitUrl: consoleUrl(core, 'home', { notice: 'ended' }),
    endpointsUrl: consoleUrl(core, 'endpoints'),
    triggerUrl: consoleUrl(core, 'trigger'),
    signOutAction: consoleUrl(core, 'signOut'),
    url,
    notice: noticeOf(ctx),
  };
}

/** Answers a page, or that the browser has it already: RFC 9110, section 13.1.2. */
export function answerPage(ctx: Context, page: ConsolePage, status = 200): void {
  setLivePageHeaders(ctx, page.sources);
  if (page.etag !== null && status === 200) {
    ctx.set('ETag', page.etag);
    if (ctx.get('If-None-Match') === page.etag) {
      ctx.status = 304;
      return;
    }
  }
  ctx.status = status;
  ctx.type = 'html';
  ctx.body = page.html;
}
