import type { Language } from '../../scopes.ts';
import { type Fragment, type Html, html, visible } from '../html.ts';
import { consoleWords } from './text.ts';
import type { StateName } from './words.ts';

const formats: { readonly [L in Language]: Intl.DateTimeFormat } = {
  en: new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium', timeZone: 'UTC' }),
  fr: new Intl.DateTimeFormat('fr', { dateStyle: 'medium', timeStyle: 'medium', timeZone: 'UTC' }),
};

/** A moment, to the second, in UTC: the same words for whoever compares it with a log. */
export function moment(date: Date, language: Language): Html {
  return html`<time datetime="${date.toISOString()}">${formats[language].format(date)} UTC</time>`;
}

/** A moment ahead; where scripts run, followed by how long that is from now. */
export function dueMoment(date: Date, language: Language): Html {
  return html`${moment(date, language)} <span data-due="${date.toISOString()}"></span>`;
}

/** A state, in words and colour. */
export function stateBadge(state: StateName | 'enabled' | 'disabled', words: string): Html {
  return html`<span class="state ${state}">${words}</span>`;
}

/** How many deliveries are in which state. */
export type StateCounts = { readonly [S in Exclude<StateName, 'none'>]: number };

/** The states that occur, with how often where that is more than once. */
export function stateWords(
  counts: StateCounts,
  language: Language,
): readonly (readonly [StateName, string])[] {
  const words = consoleWords[language].deliveries;
  const all = Object.entries(counts) as [Exclude<StateName, 'none'>, number][];
  const found = all.filter(([, count]) => count > 0);
  if (found.length === 0) return [['none', words.states.none]];
  const alone = found.length === 1 && found[0]?.[1] === 1;
  return found.map(([state, count]) => [state, alone ? words.states[state] : words.count(count, state)]);
}

/** See {@link stateWords}, as badges. */
export function stateBadges(counts: StateCounts, language: Language): Html {
  return html`<span class="states">${stateWords(counts, language).map(([state, words]) => stateBadge(state, words))}</span>`;
}

/**
 * Text of many lines from outside: whatever could reorder or hide text is replaced, line by line. It can be
 * scrolled with the keyboard.
 */
export function foreignText(text: string, label: string): Html {
  const lines = text
    .replace(/\r\n?/g, '\n')
    .split('\n')
    .map((line) => line.split('\t').map(visible).join('\t'));
  // A parser drops a line break right behind the tag.
  return html`<pre tabindex="0" role="group" aria-label="${label}" dir="ltr">
${lines.join('\n')}</pre>`;
}

/** A link to a neighbouring page of a list, if there is one. */
export function pageLinks(
  links: readonly { readonly href: string | null; readonly words: Fragment }[],
): Html | null {
  const shown = links.filter(({ href }) => href !== null);
  if (shown.length === 0) return null;
  return html`<p class="pages">${shown.map(({ href, words }) => html`<a href="${href ?? ''}">${words}</a>`)}</p>`;
}
