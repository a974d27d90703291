import { PartnerError } from '@ostiary/core/console';
import { type Html, html, icons, nameOf } from '@ostiary/core/pages';
import { problemRow } from './frame.ts';
import { problemText } from './problems.ts';
import type { Voice } from './words.ts';

/** Message about a form field: fixed text, or HTML that may contain user input. */
export type Message = string | Html;

/** Problems of a form by field name; problems that concern no field are under `''`. */
export type Problems = ReadonlyMap<string, readonly Message[]>;

/** Problems of a form that was not sent yet: none. */
export const noProblems: Problems = new Map();

/**
 * Returns the problems that an operation of the partner API reported, by form field. Fields have the names of
 * the members that they fill. Problems of members without a field are listed under `otherwise`.
 * @throws the error itself if it does not refuse the form's values
 */
export function problemsOf(
  voice: Voice,
  error: unknown,
  fields: readonly string[],
  otherwise = '',
): Problems {
  if (!(error instanceof PartnerError) || error.code !== 'invalid_request') throw error;
  const problems = new Map<string, string[]>();
  const details = error.details.length > 0 ? error.details : [{ path: '', message: error.description }];
  for (const { path, message } of details) {
    const field = fields.find((name) => path === name || path.startsWith(`${name}.`));
    const text = problemText(message, voice);
    const words = path === '' || path === field ? text : `${path}: ${text}`;
    const name = field ?? otherwise;
    problems.set(name, [...(problems.get(name) ?? []), words]);
  }
  return problems;
}

/** A control of a form, with its hint. */
interface Control {
  readonly name: string;
  /**
   * Start of the control's HTML tag with its own attributes, such as `<input type="url" required`. Name, id
   * and other attributes follow.
   */
  readonly tag: Html;
  /** End of the control's HTML tag and of its element. @defaultValue `>` */
  readonly end?: Html;
  readonly hint?: Message;
  /** Content that is shown below the form control, such as a checkbox. */
  readonly below?: Html | null;
}

/** A group of checkboxes with one label. */
interface Choices {
  readonly name: string;
  readonly options: readonly {
    readonly name: string;
    readonly label: Message;
    readonly isChecked: boolean;
  }[];
  readonly hint?: Message;
}

/** Makes a checkbox with its label; `marks` are further attributes. */
export function checkbox(
  { name, value = 'on', label, isChecked }: Choices['options'][number] & { readonly value?: string },
  marks: Html | null = null,
): Html {
  const checked = isChecked ? html` checked` : null;
  const tag = html`<input type="checkbox"`;
  return html`<label class="option">${tag}${html` name="${name}" value="${value}"`}${checked}${marks}${html`>`}<span>${label}</span></label>`;
}

const shown = (message: Message): Html | string => (typeof message === 'string' ? nameOf(message) : message);

/**
 * Makes the fields of a form with error messages, and a summary of the errors for the top of the page. The
 * first invalid field gets the focus. `labels` lists the fields in the order of the page.
 */
export function formOf<Name extends string>(
  labels: { readonly [Field in Name]: string },
  problems: Problems,
  title: Message,
) {
  const names = Object.keys(labels) as Name[];
  const firstWrong = names.find((name) => problems.has(name));

  function marks(name: string, hint: Message | undefined): Html {
    const isWrong = problems.has(name);
    const told = [isWrong ? [`${name}-wrong`] : [], hint === undefined ? [] : [`${name}-hint`]].flat();
    const described = told.length === 0 ? null : html` aria-describedby="${told.join(' ')}"`;
    return html`${isWrong ? html` aria-invalid="true"` : null}${described}`;
  }

  const focus = (name: string): Html | null => (name === firstWrong ? html` autofocus` : null);

  const wrong = (name: string): Html | null =>
    problems.has(name)
      ? html`<div class="wrong small" id="${name}-wrong">${icons.warning}<div>${(problems.get(name) ?? []).map((message) => html`<p>${shown(message)}</p>`)}</div></div>`
      : null;

  const hintOf = (name: string, hint: Message | undefined): Html | null =>
    hint === undefined ? null : html`<p class="small" id="${name}-hint">${hint}</p>`;

  return {
    /** HTTP status of the response: 400 if the form has problems. */
    status: problems.size === 0 ? 200 : 400,

    /** Lists all problems of the form, with a link to each field. */
    summary:
      problems.size === 0
        ? null
        : problemRow(title, [
            ...(problems.get('') ?? []).map(shown),
            ...names.flatMap((name) =>
              (problems.get(name) ?? []).map(
                (message) => html`<a href="#${name}">${labels[name]}</a>: ${shown(message)}`,
              ),
            ),
          ]),

    field({ name, tag, end = html`>`, hint, below = null }: Control & { readonly name: Name }): Html {
      return html`<div class="field"><label for="${name}">${labels[name]}</label>
${tag}${html` id="${name}" name="${name}"`}${marks(name, hint)}${focus(name)}${end}
${wrong(name)}${hintOf(name, hint)}${below}</div>`;
    },

    /** Makes a single checkbox that belongs to no group. */
    box({ name, isChecked }: { readonly name: Name; readonly isChecked: boolean }): Html {
      const own = html` id="${name}"${marks(name, undefined)}${focus(name)}`;
      return html`<div>${checkbox({ name, label: labels[name], isChecked }, own)}${wrong(name)}</div>`;
    },

    choices({ name, options, hint }: Choices & { readonly name: Name }): Html {
      const boxes = options.map((option, index) => {
        const first = index === 0 ? html` id="${name}"${focus(name)}` : null;
        return checkbox(option, html`${marks(name, hint)}${first}`);
      });
      return html`<fieldset><legend>${labels[name]}</legend>${wrong(name)}${hintOf(name, hint)}
${boxes}</fieldset>`;
    },
  };
}
