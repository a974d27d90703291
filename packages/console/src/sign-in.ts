import {
  type ConsoleAnswer,
  type ConsoleBackend,
  type ConsoleRequest,
  PartnerError,
} from '@ostiary/core/console';
import { fill, html, icons, nameOf } from '@ostiary/core/pages';
import { formOf, noProblems } from './forms.ts';
import { answerPage, csrfField, noticeRow } from './frame.ts';
import { type Guard, strangers } from './guard.ts';
import { type PageContext, seeOther } from './visit.ts';

/** Makes the sign-in page. The API key that was typed is never sent back. */
export function signInPage(
  context: PageContext,
  problem: { readonly status: 401 | 429; readonly headers?: ConsoleAnswer['headers'] } | null = null,
): ConsoleAnswer {
  const { backend, urlOf, voice } = context;
  const words = voice.words.signIn;
  const named = { prefix: html`<code>${backend.prefix}_test_</code>`, scope: html`<code>webhooks</code>` };
  const labels = { key: words.key };
  const form =
    problem?.status === 429
      ? formOf(labels, new Map([['', []]]), words.tooMany)
      : formOf(
          labels,
          problem === null ? noProblems : new Map([['key', [words.wrongKey]]]),
          fill(voice.language, words.refused, named),
        );
  const tag = html`<input type="password" required maxlength="200" autocomplete="off" autocapitalize="none" spellcheck="false"`;
  const body = html`<main class="card">
<div class="lead"><span class="disc">${icons.plug}</span><h1>${voice.words.title}</h1><p class="muted">${fill(voice.language, words.intro, named)}</p></div>
${noticeRow(context)}
${form.summary}
<form class="form" method="post" action="${urlOf('signIn')}">
${csrfField(context)}
${form.field({ name: 'key', tag, hint: words.promise })}
<button class="primary">${words.submit}</button>
</form>
<p class="small muted">${fill(voice.language, words.live, { name: nameOf(backend.theme.name) })}</p>
</main>`;
  const page = answerPage(context, { title: voice.words.title, body, status: problem?.status ?? 200 });
  return { ...page, headers: { ...page.headers, ...problem?.headers } };
}

/**
 * Signs a partner in with a test API key. The response is the same for every key that cannot open the
 * console.
 */
export async function signIn(
  backend: ConsoleBackend,
  { contextOf, cookie, urlOf }: Guard,
  request: ConsoleRequest,
): Promise<ConsoleAnswer> {
  const context = await contextOf(request, strangers);
  const form = await backend.form(request, strangers);
  try {
    // Trimmed: spaces around a key are a copying mistake.
    const { session, seconds } = await backend.signIn((form.get('key') ?? '').trim(), request);
    return seeOther(urlOf('home'), { 'Set-Cookie': cookie.keep(session, seconds) });
  } catch (error) {
    if (!(error instanceof PartnerError) || error.status >= 500) throw error;
    const { code, headers } = error;
    return signInPage(context, code === 'rate_limit_exceeded' ? { status: 429, headers } : { status: 401 });
  }
}
