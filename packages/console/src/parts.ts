import { deliveryStates, type OperatorBackend } from '@ostiary/core/console';
import { type Fragment, fill, type Html, html, visible } from '@ostiary/core/pages';
import type { DeliveryState } from './api.ts';
import { orderField } from './list-order.ts';
import type { Language, Voice, Words } from './words.ts';

/** Name of a delivery's state on pages; `none` means that an event has no deliveries. */
type StateName = keyof Words['deliveries']['states'];

const style = { dateStyle: 'medium', timeStyle: 'medium', timeZone: 'UTC' } as const;

/**
 * Returns the locales for dates and numbers: British English for English (day before month), and French as
 * the fallback, since `Intl` does not know Haitian Creole.
 */
const localesOf = (language: Language): readonly string[] => [language === 'en' ? 'en-GB' : language, 'fr'];

/** Formats a number with the separators of a language. */
export const counted = (number: number, language: Language): string =>
  number.toLocaleString(localesOf(language));

/** Formats a time in UTC, to the second. */
export function moment(time: string, language: Language): Html {
  return html`<time datetime="${time}">${new Date(time).toLocaleString(localesOf(language), style)} UTC</time>`;
}

/** Units for ages and lengths of time, the longest first, in milliseconds. Shorter times are in seconds. */
const units = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const;

/** Formats how long ago a time was, in days, hours, minutes or seconds. The exact time is in the tooltip. */
export function ago(time: string, now: number, language: Language): Html {
  const passed = Math.max(0, now - Date.parse(time));
  const [unit, length] = units.find(([, ms]) => passed >= ms) ?? (['second', 1000] as const);
  const words = new Intl.RelativeTimeFormat(localesOf(language)).format(-Math.floor(passed / length), unit);
  const exact = `${new Date(time).toLocaleString(localesOf(language), style)} UTC`;
  return html`<time datetime="${time}" title="${exact}">${words}</time>`;
}

/**
 * Formats a fraction from 0 to 1 as a percentage with at most one decimal. Rounds down, so that only 1 is
 * shown as 100 %.
 */
export const share = (part: number, language: Language): string =>
  (Math.floor(part * 1000) / 1000).toLocaleString(localesOf(language), {
    style: 'percent',
    maximumFractionDigits: 1,
  });

/** Formats a length of time in the largest unit that it contains at least twice, or in seconds. */
export function lasting(ms: number, language: Language): string {
  const [unit, length] = units.find(([, each]) => ms >= 2 * each) ?? (['second', 1000] as const);
  return (ms / length).toLocaleString(localesOf(language), {
    style: 'unit',
    unit,
    unitDisplay: 'narrow',
    maximumFractionDigits: ms < 10_000 ? 1 : 0,
  });
}

/** Formats the time left until a future time. */
function timeLeft(time: string, now: number, language: Language): string {
  const seconds = Math.max(0, Math.round((Date.parse(time) - now) / 1000));
  const words = new Intl.RelativeTimeFormat(localesOf(language));
  return seconds < 60 ? words.format(seconds, 'second') : words.format(Math.floor(seconds / 60), 'minute');
}

const leftMs = (time: string, now: number): string => String(Math.max(0, Date.parse(time) - now));

/** Formats a future time, together with the time left until then. */
export function dueMoment(time: string, now: number, language: Language): Html {
  // The page's script counts this down.
  return html`${moment(time, language)} <span data-left="${leftMs(time, now)}">(${timeLeft(time, now, language)})</span>`;
}

/**
 * Shows the state of a delivery in words and colour. For a failing delivery whose next attempt has a time,
 * also shows the number of failed attempts, and the time until the next attempt.
 */
export function deliveryBadge(
  {
    state,
    failures,
    nextAttemptAt,
  }: {
    readonly state: DeliveryState;
    readonly failures: number;
    readonly nextAttemptAt: string | null;
  },
  { maxAttempts, now }: Pick<OperatorBackend, 'maxAttempts' | 'now'>,
  { language, words: { deliveries } }: Voice,
): Html {
  if (state !== 'failing' || nextAttemptAt === null) return stateBadge(state, deliveries.states[state]);
  const left = timeLeft(nextAttemptAt, now(), language);
  const time = html`<span data-left="${leftMs(nextAttemptAt, now())}" data-plain>${left}</span>`;
  return html`<span class="state failing">${fill(language, deliveries.failing, { number: failures, of: Math.max(failures, maxAttempts), time })}</span>`;
}

/**
 * Makes the options of a form that filters deliveries by state. `pending` selects both queued and failing
 * deliveries.
 */
export const stateOptions = ({
  deliveries: { states, waiting },
}: Words): readonly (readonly [state: DeliveryState, words: string])[] =>
  deliveryStates.map((state) => [state, state === 'pending' ? waiting : states[state]]);

/** Shows a state, such as that of a delivery, in words and colour. */
export function stateBadge(state: StateName | 'enabled' | 'disabled', words: string): Html {
  return html`<span class="state ${state}">${words}</span>`;
}

/** Shows in words and colour whether an object is enabled. */
export function enabledBadge(
  isEnabled: boolean,
  words: { readonly enabled: string; readonly disabled: string },
): Html {
  return isEnabled ? stateBadge('enabled', words.enabled) : stateBadge('disabled', words.disabled);
}

/** Lists the states that occur among deliveries, each with its count if that is more than one. */
export function stateWords(
  states: readonly DeliveryState[],
  { deliveries }: Words,
): readonly (readonly [state: StateName, words: string])[] {
  const names = deliveries.states;
  if (states.length === 0) return [['none', names.none]];
  return deliveryStates.flatMap((state) => {
    const count = states.filter((each) => each === state).length;
    if (count === 0) return [];
    return [[state, count === 1 ? names[state] : `${names[state]} × ${count}`] as const];
  });
}

/** Shows the states of {@link stateWords} as badges. */
export function stateBadges(states: readonly DeliveryState[], words: Words): Html {
  return html`<span class="states">${stateWords(states, words).map(([state, text]) => stateBadge(state, text))}</span>`;
}

/** Makes the text that screen readers announce when deliveries change. */
export function statesSaid(title: string, states: readonly DeliveryState[], words: Words): string {
  const named = stateWords(states, words).map(([, text]) => text);
  return `${title}: ${named.join(', ')}`;
}

/**
 * Makes a multi-line text of a foreign author safe to show: replaces characters that could reorder or hide
 * text. All of these lie outside printable ASCII, so runs of other characters are skipped at once: a response
 * of nothing but line breaks used to take a hundred times as long.
 */
export const visibleText = (text: string): string => text.replace(/[^\n\t -~]+/g, visible);

/**
 * Shows a multi-line text that others wrote. Characters that could reorder or hide text are replaced. The
 * text can be scrolled with the keyboard.
 */
export function foreignText(text: string, label: string): Html {
  // HTML parsers drop a line break right after the tag.
  return html`<pre tabindex="0" role="group" aria-label="${label}" dir="ltr">
${visibleText(text.replace(/\r\n?/g, '\n'))}</pre>`;
}

/** Makes the text that is shown in place of an empty list. */
export function emptyList(title: string, text: string, icon: Html | null = null): Html {
  return html`<div class="empty">${icon === null ? null : html`<span class="disc">${icon}</span>`}<h3>${title}</h3><p class="muted">${text}</p></div>`;
}

/** Makes links to other pages of a list. A link whose URL is `null` is omitted. */
export function pageLinks(links: readonly (readonly [href: string | null, words: string])[]): Html | null {
  const shown = links.flatMap(([href, words]) =>
    href === null ? [] : [html`<a href="${href}">${words}</a>`],
  );
  return shown.length === 0 ? null : html`<p class="pages">${shown}</p>`;
}

/** Makes a form that filters a list. Each choice is a URL, so that it can be bookmarked and shared. */
export function filterForm(
  { words }: Voice,
  {
    action,
    query,
    name,
    all,
    options,
    chosen,
  }: {
    readonly action: string;
    /** Query of the page, whose order of the list the form keeps. */
    readonly query: URLSearchParams;
    readonly name: string;
    /** Label of the option that removes the filter. */
    readonly all: string;
    readonly options: readonly (readonly [value: string, words: string])[];
    readonly chosen: string | null;
  },
): Html {
  return html`<form class="filter" method="get" action="${action}">${orderField(query)}<label for="filter">${words.show}</label>
${choice({ id: 'filter', name, options: [['', all], ...options], chosen: chosen ?? '' })}<button class="compact">${words.filter}</button></form>`;
}

/** Makes a drop-down list without a label. */
function choice({
  id,
  name,
  options,
  chosen,
}: {
  readonly id: string;
  readonly name: string;
  readonly options: readonly (readonly [value: string, words: Fragment])[];
  readonly chosen: string;
}): Html {
  const option = ([value, words]: (typeof options)[number]): Html =>
    value === chosen
      ? html`<option value="${value}" selected>${words}</option>`
      : html`<option value="${value}">${words}</option>`;
  return html`<select id="${id}" name="${name}">${options.map(option)}</select>`;
}

/**
 * Folds the form with the filters of a list, for the place above the list. The form is open only while a filter is set: on a
 * phone it would push the list below the fold.
 */
export function filterFold(
  { words }: Voice,
  {
    id = 'filters',
    isNarrowed,
    form,
  }: { readonly id?: string; readonly isNarrowed: boolean; readonly form: Html },
): Html {
  const inner = html`<summary>${words.events.filters}</summary>${form}`;
  return isNarrowed
    ? html`<details id="${id}" open>${inner}</details>`
    : html`<details id="${id}">${inner}</details>`;
}

/** Makes a drop-down list with its label. */
export function choiceField({
  label,
  name,
  id = name,
  ...list
}: Omit<Parameters<typeof choice>[0], 'id'> & { readonly label: string; readonly id?: string }): Html {
  return html`<div class="field"><label for="${id}">${label}</label>${choice({ id, name, ...list })}</div>`;
}

/** Shows a list of names and values. Rows that are `null` are omitted. */
export const facts = (rows: readonly (readonly [name: string, value: Fragment] | null)[]): Html =>
  html`<dl class="facts">${rows.map((row) => (row === null ? null : html`<dt>${row[0]}</dt><dd>${row[1]}</dd>`))}</dl>`;

/** Shows a secret. Only this response contains it. */
export const secretText = (secret: string): Html =>
  html`<p class="once"><code data-once>${secret}</code></p>`;
