import { fillText, html } from '@ostiary/web-kit';
import type { PartnerConfig } from '../config.ts';
import { page } from './layout.ts';
import type { Words } from './words.ts';

/** Makes the page about an error of the provider or the shop: an explanation, the code and a description. */
export function errorPage(words: Words, config: PartnerConfig, code: string, description: string): string {
  const explanations: Readonly<Record<string, readonly string[]>> = words.errors;
  const known = Object.hasOwn(explanations, code) ? explanations[code] : undefined;
  const answered = fillText(words.language, words.answeredError, { provider: config.provider.name });
  const [title = '', text = ''] = known ?? [words.signInFailed, answered];
  return page(
    words,
    title,
    html`<div class="card narrow"><h1 class="modest">${title}</h1>
<p>${text}</p>
<dl><div><dt>${words.error}</dt><dd><code>${code}</code></dd></div>${
      description === '' ? null : html`<div><dt>${words.description}</dt><dd>${description}</dd></div>`
    }</dl>
<a class="button primary" href="/">${words.back}</a></div>`,
  );
}
