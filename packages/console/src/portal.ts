import type { ConsoleAnswer, ConsolePage, ConsoleRequest, PortalBackend } from '@ostiary/core/console';
import { fill, type Html, html, icons, nameOf } from '@ostiary/core/pages';
import { answerPage, csrfField, noticeOf, noticeRow } from './frame.ts';
import { createGuard, type Guard, strangers } from './guard.ts';
import { home } from './home.ts';
import type { paceOf } from './live-stream.ts';
import { assetPages, pageAssets } from './page-assets.ts';
import { pathOf, roots } from './paths.ts';
import { sharedPages } from './shared-pages.ts';
import { type PageContext, seeOther } from './visit.ts';

/** Path below `authUrl` of the page that a link to the portal for live data opens. */
export const linkPath = pathOf('live', 'link');

/** Headers with which browsers send only the origin of a page whose URL is a secret, and never the URL. */
const originOnly = { 'Referrer-Policy': 'strict-origin' };

/** Name of the visitor who opens a link. The CSRF token in the link's page is bound to this name. */
const visitorOf = (link: string): string => `link ${link}`;

/** Makes a page with a single card, for visitors of the portal for live data without a session. */
function card(
  context: PageContext,
  { title, body, status = 200 }: { readonly title: string; readonly body: Html; readonly status?: number },
): ConsoleAnswer {
  return answerPage(context, {
    title,
    status,
    body: html`<main class="card"><div class="lead"><span class="disc">${icons.plug}</span><h1>${title}</h1></div>
${body}</main>`,
  });
}

/** Tells visitors of the portal for live data who have no session where the links to the portal come from. */
function closedPage(context: PageContext): ConsoleAnswer {
  const { backend, notice, voice } = context;
  const { portal: words } = voice.words;
  const ask = fill(voice.language, words.closed, { name: nameOf(backend.theme.name) });
  return card(context, {
    title: words.title,
    body: html`${notice === 'ended' ? noticeOf(words.ended, true) : noticeRow(context)}
<p>${ask}</p>
<p><a href="${backend.url(roots.test)}">${words.toTest}</a></p>`,
  });
}

/** Shows that a link to the portal for live data was used, has expired or never existed. */
function gonePage(context: PageContext): ConsoleAnswer {
  const { backend, voice } = context;
  const { portal: words } = voice.words;
  const ask = fill(voice.language, words.gone, { name: nameOf(backend.theme.name) });
  return card(context, { title: words.goneTitle, status: 410, body: html`<p>${ask}</p>` });
}

/**
 * Shows what a link to the portal for live data opens, with the button that uses the link. Opening this page does not
 * use the link up, because programs that check the links in a message open them before the receiver does.
 */
async function linkPage(
  backend: PortalBackend,
  { contextOf, urlOf }: Guard,
  request: ConsoleRequest,
): Promise<ConsoleAnswer> {
  const { link = '' } = request.parameters;
  const context = await contextOf(request, visitorOf(link));
  const { language, words } = context.voice;
  const found = await backend.findLink(link);
  if (found === null) return gonePage(context);
  const partner = html`<strong>${nameOf(found.partner)}</strong>`;
  const page = card(context, {
    title: words.portal.openTitle,
    body: html`<p>${fill(language, words.portal.openIntro, { partner })} ${found.rights === 'view' ? words.portal.openView : words.portal.openManage}</p>
<p class="muted">${words.portal.openOnce}</p>
<form class="form" method="post" action="${urlOf('link', { id: link })}">${csrfField(context)}<button class="primary">${words.portal.open}</button></form>`,
  });
  return { ...page, headers: originOnly };
}

/**
 * Uses a link to the portal for live data up: the browser gets a new session, and is redirected away from the secret
 * URL of the link.
 */
async function openLink(
  backend: PortalBackend,
  { contextOf, cookie, urlOf }: Guard,
  request: ConsoleRequest,
): Promise<ConsoleAnswer> {
  const { link = '' } = request.parameters;
  await backend.form(request, visitorOf(link));
  const opened = await backend.open(link, request);
  if (opened === null) return gonePage(await contextOf(request, strangers));
  const { session, seconds } = opened;
  return seeOther(urlOf('home'), { 'Set-Cookie': cookie.keep(session, seconds), ...originOnly });
}

/** Routes of the portal for live data: the console's pages with live data, and the page that a link opens. */
export function portalPages(backend: PortalBackend, pace: typeof paceOf): ConsolePage[] {
  const assets = pageAssets(backend);
  const guard = createGuard(backend, 'live', assets, pace);
  return [
    {
      path: pathOf('live', 'home'),
      summary: 'Live portal: endpoints and events of a partner. Opens with a link only.',
      GET: guard.guarded(home, closedPage),
    },
    {
      path: linkPath,
      summary: 'Says what a link to the live portal opens, and uses it.',
      GET: (request) => linkPage(backend, guard, request),
      POST: (request) => openLink(backend, guard, request),
    },
    ...sharedPages('live', guard),
    ...assetPages('live', assets),
  ];
}
