import { type Html, html, nameOf, type PartnerError } from '@ostiary/core/console';
import { problemRow } from '../frame.ts';
import { foreignText } from '../parts.ts';
import type { Words } from '../words/en/index.ts';

/** The tools of the page, in the order in which they stand on it. */
export type ToolName = 'payment' | 'signature' | 'passport' | 'kyc';

/** What was typed into a form, by the name of its field. */
export type Filled = ReadonlyMap<string, string>;

/** What a form led to, if it was one of this tool. */
export interface Used {
  readonly filled: Filled;
  /** Why the API did not do it. */
  readonly problem: PartnerError | null;
  /** What came of it. */
  readonly outcome: Html | null;
}

export const unused: Used = { filled: new Map(), problem: null, outcome: null };

/** Which of the scopes that a tool needs a key lacks. */
export const missingScopes = (needed: readonly string[], held: readonly string[]): string[] =>
  needed.filter((scope) => !held.includes(scope));

/**
 * Why the API did not do what a form asked for, with its code. The focus goes there, unless one of these fields is to blame, which
 * is marked and has it.
 */
export function refusal({ problem }: Used, words: Words, lineFields: readonly string[] = []): Html | null {
  if (problem === null) return null;
  const { status, code, description, details } = problem;
  const about = details.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`));
  const reasons = about.length > 0 ? about : [description];
  const row = problemRow(words.tools.refused, [`${status} ${code}`, ...reasons]);
  const isMarked = details.some(({ path }) => lineFields.includes(path));
  return isMarked ? row : html`<div tabindex="-1" autofocus>${row}</div>`;
}

/** A field for a line of text, marked where the API found something wrong with it. */
export function lineField(
  { filled, problem }: Used,
  {
    name,
    id,
    label,
    hint,
    initial = '',
    maximum,
    wrong: ownWords,
  }: {
    readonly name: string;
    readonly id: string;
    readonly label: string;
    readonly hint: string;
    readonly initial?: string;
    readonly maximum: number;
    /** What is said of a wrong value, where it is not what is sent. */
    readonly wrong?: string;
  },
): Html {
  const value = (filled.get(name) ?? initial).slice(0, maximum);
  const message = problem?.details.find(({ path }) => path === name)?.message;
  const wrong = message === undefined ? undefined : (ownWords ?? message);
  const input =
    wrong === undefined
      ? html`<input id="${id}" name="${name}" value="${value}" maxlength="${maximum}" spellcheck="false" autocapitalize="none" aria-describedby="${id}-hint">`
      : html`<input id="${id}" name="${name}" value="${value}" maxlength="${maximum}" spellcheck="false" autocapitalize="none" aria-describedby="${id}-wrong ${id}-hint" aria-invalid="true" autofocus>
<p class="small wrong" id="${id}-wrong">${nameOf(wrong)}</p>`;
  return html`<div class="field"><label for="${id}">${label}</label>
${input}
<p class="small" id="${id}-hint">${hint}</p></div>`;
}

/** A panel with one tool, or with what its key lacks. */
export function toolPanel(
  { tools: words }: Words,
  {
    name,
    lacks,
    form,
    used,
    refused,
    call,
  }: {
    readonly name: ToolName;
    readonly lacks: readonly string[];
    readonly form: Html;
    readonly used: Used;
    readonly refused: Html | null;
    readonly call: Html | null;
  },
): Html {
  const { title, intro } = words[name];
  const names = lacks.map((scope, index) => html`${index === 0 ? '' : ', '}<code>${scope}</code>`);
  const body =
    lacks.length > 0
      ? html`<p>${words.missing(names)}</p>`
      : html`${refused}${used.outcome === null ? null : html`<div class="outcome" role="status" tabindex="-1" autofocus>${used.outcome}</div>`}
${form}${call}`;
  return html`<section class="panel" id="${name}" aria-labelledby="${name}-title"><h2 id="${name}-title">${title}</h2>
<p class="small muted">${intro}</p>
${body}</section>`;
}

/** An operation of the API, as what is sent. */
export function callText(id: string, words: Words, target: string, body: object): Html {
  const text = `${target}\n\n${JSON.stringify(body, null, 2)}`;
  return html`<details id="${id}"><summary class="small">${words.tools.call}</summary>${foreignText(text, `${words.tools.call}: ${target}`)}</details>`;
}
