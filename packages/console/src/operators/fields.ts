import { type Fragment, type Html, html } from '@ostiary/core/pages';
import { formOf, type Message, noProblems, type Problems } from '../forms.ts';
import { csrfField } from '../frame.ts';
import { choiceField } from '../parts.ts';
import { problemText } from '../problems.ts';
import type { Voice } from '../words.ts';
import type { Form, OperatorContext } from './visit.ts';

/** Submitted values of a form, with the problems that were found in them. */
export interface Filled {
  readonly form: Form;
  readonly problems: Problems;
}

/**
 * Makes the state of a submitted form in which one field was refused before any administrative call.
 */
export const wrongField = (form: Form, name: string, message: string): Filled => ({
  form,
  problems: new Map([[name, [message]]]),
});

/**
 * Translates an error about a form field into the language of the page. The error is an error code or a text.
 * The index of an array item in a text becomes the number of a line in the field.
 */
function said(message: Message, voice: Voice): Message {
  if (typeof message !== 'string') return message;
  const coded = Object.entries(voice.words.problems).find(([code]) => code === message);
  if (coded !== undefined) return coded[1];
  const [, line, text = message] = /^\w+(?:\.[a-z]+)?\.(\d+)(?:\.\w+)*: (.*)$/s.exec(message) ?? [];
  return line === undefined ? problemText(text, voice) : `${Number(line) + 1}: ${problemText(text, voice)}`;
}

/** Assigns problems to the fields of a form. Problems that concern no field are shown at the top. */
function problemsIn(labels: object, { problems }: Filled, voice: Voice): Problems {
  const sorted = new Map<string, readonly Message[]>();
  for (const [name, messages] of problems) {
    const field = Object.hasOwn(labels, name) ? name : '';
    sorted.set(field, [...(sorted.get(field) ?? []), ...messages.map((message) => said(message, voice))]);
  }
  return sorted;
}

/**
 * Makes the fields of a form. Before the form is sent, the fields have the given defaults. Afterwards they
 * show the sent values, except files, and a checkbox that was not sent is not ticked.
 */
export function fieldsOf<Name extends string>(
  { voice, words }: OperatorContext,
  labels: { readonly [Field in Name]: string },
  filled: Filled | null,
) {
  const parts = formOf(
    labels,
    filled === null ? noProblems : problemsIn(labels, filled, voice),
    words.refused,
  );
  const textOf = (name: string, value: string): string => filled?.form.get(name) ?? value;
  const isTicked = (name: string, isOn: boolean): boolean => (filled === null ? isOn : filled.form.has(name));

  return {
    summary: parts.summary,

    line: (name: Name, hint: string, value = ''): Html =>
      parts.field({
        name,
        hint,
        tag: html`<input value="${textOf(name, value)}" autocomplete="off" spellcheck="false" autocapitalize="none"`,
      }),

    /** Makes a form field for a day, such as `2030-01-31`. */
    day: (name: Name, value: string | null): Html =>
      parts.field({ name, tag: html`<input type="date" value="${textOf(name, value ?? '')}"` }),

    /** Makes a form field for a time in UTC, to the minute. */
    time: (name: Name, value: string | null): Html =>
      parts.field({ name, tag: html`<input type="datetime-local" value="${textOf(name, value ?? '')}"` }),

    lines: (name: Name, hint: string, value: readonly string[] = []): Html =>
      parts.field({
        name,
        hint,
        tag: html`<textarea rows="4" class="short" spellcheck="false" autocapitalize="none"`,
        // HTML parsers drop a line break right after the tag.
        end: html`>
${textOf(name, value.join('\n'))}</textarea>`,
      }),

    file: (name: Name, hint: string, type: string): Html =>
      parts.field({ name, hint, tag: html`<input type="file" accept="${type}"` }),

    tick: (name: Name, isOn = false): Html => parts.box({ name, isChecked: isTicked(name, isOn) }),

    /** Makes a group of checkboxes with names such as `scope openid`. */
    ticks: (name: Name, prefix: string, options: readonly string[], chosen: readonly string[] = []): Html =>
      parts.choices({
        name,
        options: options.map((option) => ({
          name: `${prefix} ${option}`,
          label: html`<code>${option}</code>`,
          isChecked: isTicked(`${prefix} ${option}`, chosen.includes(option)),
        })),
      }),

    select: (
      name: Name,
      options: readonly (readonly [value: string, words: Fragment])[],
      value: string,
    ): Html => choiceField({ name, label: labels[name], options, chosen: textOf(name, value) }),
  };
}

/** Returns the options that are checked in a group of checkboxes made by `ticks`. */
export const ticked = <Option extends string>(form: Form, name: string, options: readonly Option[]) =>
  options.filter((option) => form.has(`${name} ${option}`));

/**
 * Makes a form with one button for one action. Returns `null` if the operator may not send the forms of this
 * page. If the operator must confirm the sign-in first, a link to the confirmation replaces the form.
 */
export function actForm(
  visit: OperatorContext,
  {
    action,
    act,
    label,
    body = null,
    primary = false,
    takesFile = false,
  }: {
    readonly action: string;
    readonly act: string;
    readonly label: string;
    readonly body?: Fragment;
    readonly primary?: boolean;
    readonly takesFile?: boolean;
  },
): Html | null {
  const { mayPost, confirmAt, words } = visit;
  if (!mayPost) return null;
  if (confirmAt !== null)
    return html`<p>${words.confirm.before} <a href="${confirmAt}">${words.confirm.again}</a></p>`;
  const encoding = takesFile ? 'multipart/form-data' : 'application/x-www-form-urlencoded';
  return html`<form class="form" method="post" action="${action}" enctype="${encoding}">${csrfField(visit)}${body}
<div class="row"><button class="${primary ? 'primary' : 'compact'}" name="act" value="${act}">${label}</button></div></form>`;
}

/**
 * Makes a form for an action that needs confirmation: it is collapsed behind its label, with a description of
 * its consequences. Returns `null` if the operator may not send the forms of this page.
 */
export function asked(
  visit: OperatorContext,
  {
    hint,
    isOpen = false,
    isFinal = false,
    ...act
  }: Parameters<typeof actForm>[1] & {
    readonly hint: string;
    /** True to show the form expanded, because the action was just refused. */
    readonly isOpen?: boolean;
    readonly isFinal?: boolean;
  },
): Html | null {
  if (!visit.mayPost) return null;
  const inner = html`<summary>${act.label}</summary><p>${hint}${isFinal ? html` <strong>${visit.words.sure}</strong>` : null}</p>
${actForm(visit, act)}`;
  return isOpen ? html`<details open>${inner}</details>` : html`<details>${inner}</details>`;
}

/**
 * Makes a panel that contains only forms. Returns `null` if the operator may not send the forms of this page.
 * @param panel - with `id`, the label is also the visible heading
 */
export function formPanel(
  { mayPost }: OperatorContext,
  { id, label, body }: { readonly id?: string; readonly label: string; readonly body: Fragment },
): Html | null {
  if (!mayPost) return null;
  return id === undefined
    ? html`<section class="panel" aria-label="${label}">${body}</section>`
    : html`<section class="panel" aria-labelledby="${id}"><h2 id="${id}">${label}</h2>${body}</section>`;
}
