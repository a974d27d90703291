import type { PartnerError } from '@ostiary/core/console';
import { fill, type Html, html } from '@ostiary/core/pages';
import { problemRow } from '../frame.ts';
import { type ApiCall, apiSnippets } from '../snippets.ts';
import type { Visit } from '../visit.ts';
import type { Voice, Words } from '../words.ts';

/** Names of the test tools. */
export type ToolName = 'payment' | 'signature' | 'passport' | 'kyc';

/** Submitted values of a form, by field name. */
export type Filled = ReadonlyMap<string, string>;

/**
 * Submitted form and result of the test tool that this request used; empty for the other test tools on the
 * page.
 */
export interface Used {
  readonly filled: Filled;
  /** Error with which the API refused the test tool's call; `null` if there is none. */
  readonly problem: PartnerError | null;
  /** Result of the test tool; `null` if there is none. */
  readonly outcome: Html | null;
}

export const unused: Used = { filled: new Map(), problem: null, outcome: null };

/** Returns the scopes that a test tool needs and the key lacks. */
export const missingScopes = (needed: readonly string[], held: readonly string[]): string[] =>
  needed.filter((scope) => !held.includes(scope));

/**
 * Shows why the API refused a form, with the error code. The message gets the focus, unless the refusal
 * concerns one of `lineFields`: then that field gets the focus.
 */
export function refusal({ problem }: Used, words: Words, lineFields: readonly string[] = []): Html | null {
  if (problem === null) return null;
  const { status, code, description, details } = problem;
  const about = details.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`));
  const reasons = about.length > 0 ? about : [description];
  const row = problemRow(words.tools.refused, [`${status} ${code}`, ...reasons]);
  const isMarked = details.some(({ path }) => lineFields.includes(path));
  return isMarked ? row : html`<div class="told" tabindex="-1" autofocus>${row}</div>`;
}

/**
 * Shows a test tool. If the session's key lacks scopes for the tool, shows the names of these scopes instead.
 */
export function toolPanel(
  { language, words: { tools: words } }: Voice,
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
      ? html`<p>${fill(language, words.missing, { scopes: names })}</p>`
      : html`${refused}${used.outcome === null ? null : html`<div class="told outcome" role="status" tabindex="-1" autofocus>${used.outcome}</div>`}
${form}${call}`;
  return html`<section class="panel" id="${name}" aria-labelledby="${name}-title"><h2 id="${name}-title">${title}</h2>
<p class="small muted">${intro}</p>
${body}</section>`;
}

/** Shows the API call that a test tool makes, as code. */
export function toolCall({ backend, voice }: Visit, name: ToolName, call: ApiCall): Html {
  return apiSnippets(backend, voice, { id: `${name}-call`, title: voice.words.tools.call, call });
}
