import { type Fragment, type Html, html, nameOf } from '@ostiary/core/console';
import type { Form, OperatorContext, Refusal } from './visit.ts';

/** What was filled in, and why it was refused. */
export interface Filled {
  readonly form: Form;
  readonly refusal: Refusal;
}

interface Field {
  readonly name: string;
  readonly label: string;
  readonly hint: string;
  /** What stands there until something else is filled in. */
  readonly value?: string;
  /** Lines, for text of several. */
  readonly rows?: number;
}

/** What was wrong with a field, without its name, which stands above it. */
function problemOf(name: string, filled: Filled | null): Html | null {
  const at = filled?.refusal.fields.indexOf(name) ?? -1;
  if (filled === null || at < 0) return null;
  const said = filled.refusal.message.split('; ')[at] ?? '';
  return html`<span class="problem small" id="${name}-problem">${nameOf(said.replace(/^\w+: /, ''))}</span>`;
}

/** A text field: what was refused stays in it, and is marked. The first refused one has the focus. */
export function textField(
  { name, label, hint, value = '', rows = 1 }: Field,
  filled: Filled | null = null,
): Html {
  const text = filled?.form.get(name) ?? value;
  const at = filled?.refusal.fields.indexOf(name) ?? -1;
  const about = filled === null || at < 0 ? `${name}-hint` : `${name}-problem ${name}-hint`;
  const input = (): Html => {
    if (rows > 1) {
      const count = String(rows);
      return at === 0
        ? html`<textarea id="${name}" name="${name}" rows="${count}" class="short" spellcheck="false" autocapitalize="none" aria-describedby="${about}" aria-invalid="true" autofocus>
${text}</textarea>`
        : html`<textarea id="${name}" name="${name}" rows="${count}" class="short" spellcheck="false" autocapitalize="none" aria-describedby="${about}" aria-invalid="${at > 0 ? 'true' : 'false'}">
${text}</textarea>`;
    }
    return at === 0
      ? html`<input id="${name}" name="${name}" value="${text}" autocomplete="off" spellcheck="false" autocapitalize="none" aria-describedby="${about}" aria-invalid="true" autofocus>`
      : html`<input id="${name}" name="${name}" value="${text}" autocomplete="off" spellcheck="false" autocapitalize="none" aria-describedby="${about}" aria-invalid="${at > 0 ? 'true' : 'false'}">`;
  };
  return html`<div class="field"><label for="${name}">${label}</label>
${input()}
${problemOf(name, filled)}<p class="small" id="${name}-hint">${hint}</p></div>`;
}

/** A box to tick; `value` is whether it is ticked until something else is filled in. */
export function tick(
  name: string,
  label: Fragment,
  value: boolean,
  filled: Filled | null = null,
  hasFocus = filled?.refusal.fields[0] === name,
): Html {
  const isOn = filled === null ? value : filled.form.has(name);
  const problem = problemOf(name, filled);
  const invalid = problem === null ? 'false' : 'true';
  const box = (): Html => {
    if (hasFocus && isOn)
      return html`<input type="checkbox" name="${name}" aria-invalid="${invalid}" autofocus checked>`;
    if (hasFocus) return html`<input type="checkbox" name="${name}" aria-invalid="${invalid}" autofocus>`;
    if (isOn) return html`<input type="checkbox" name="${name}" aria-invalid="${invalid}" checked>`;
    return html`<input type="checkbox" name="${name}" aria-invalid="${invalid}">`;
  };
  return html`<label class="option">${box()}<span>${label}${problem === null ? null : html`<br>${problem}`}</span></label>`;
}

/** Boxes of which some are to be ticked, as fields `scope openid`. */
export function ticks(
  name: string,
  {
    legend,
    options,
    chosen,
    field,
  }: {
    readonly legend: string;
    readonly options: readonly string[];
    readonly chosen: readonly string[];
    /** How the administration calls it. */
    readonly field: string;
  },
  filled: Filled | null = null,
): Html {
  const isFirst = filled?.refusal.fields[0] === field;
  const boxes = options.map((option, index) =>
    tick(
      `${name} ${option}`,
      html`<code>${option}</code>`,
      chosen.includes(option),
      filled,
      isFirst && index === 0,
    ),
  );
  const problem = problemOf(field, filled);
  if (problem === null) return html`<fieldset><legend>${legend}</legend>${boxes}</fieldset>`;
  return html`<fieldset aria-describedby="${field}-problem"><legend>${legend}</legend>${boxes}
${problem}</fieldset>`;
}

/** Which of those boxes are ticked. */
export const ticked = <Option extends string>(form: Form, name: string, options: readonly Option[]) =>
  options.filter((option) => form.has(`${name} ${option}`));

/** A form that does one thing. */
export function actForm(
  { proof }: OperatorContext,
  {
    action,
    act,
    label,
    body = null,
    primary = false,
  }: {
    readonly action: string;
    readonly act: string;
    readonly label: string;
    readonly body?: Fragment;
    readonly primary?: boolean;
  },
): Html {
  const button = primary
    ? html`<button class="primary" name="act" value="${act}">${label}</button>`
    : html`<button class="compact" name="act" value="${act}">${label}</button>`;
  return html`<form class="form" method="post" action="${action}"><input type="hidden" name="csrf" value="${proof}">${body}
<div class="row">${button}</div></form>`;
}

/** An act that asks first: it is folded away behind its name, with what comes of it. */
export function asked(
  visit: OperatorContext,
  {
    action,
    act,
    label,
    hint,
    body = null,
    isOpen = false,
    isFinal = false,
  }: {
    readonly action: string;
    readonly act: string;
    readonly label: string;
    readonly hint: string;
    readonly body?: Fragment;
    /** Where it was just refused. */
    readonly isOpen?: boolean;
    readonly isFinal?: boolean;
  },
): Html {
  const inner = html`<summary>${label}</summary><p>${hint}${isFinal ? html` <strong>${visit.words.sure}</strong>` : null}</p>
${actForm(visit, { action, act, label, body })}`;
  return isOpen ? html`<details open>${inner}</details>` : html`<details>${inner}</details>`;
}

/** Facts with their names. */
export const facts = (rows: readonly (readonly [name: string, value: Fragment])[]): Html =>
  html`<dl class="facts">${rows.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`;
