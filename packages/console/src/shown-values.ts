import { createHash } from 'node:crypto';
import { type Html, html } from '@ostiary/core/pages';

/** Values of a form by the names of the settings that they change. */
type Values = Readonly<Record<string, unknown>>;

/** Returns a short text that stands for a value. */
const markOf = (value: unknown): string =>
  createHash('sha256')
    .update(String(JSON.stringify(value)))
    .digest('base64url')
    .slice(0, 12);

/** Returns the text for the hidden field `shown` of a form that shows these values, and the items of lists. */
const marksOf = (values: Values): string =>
  Object.entries(values)
    .flatMap(([name, value]) => [
      `${name}:${markOf(value)}`,
      ...(Array.isArray(value) ? value.map((item) => `${name}.item:${markOf(item)}`) : []),
    ])
    .join(' ');

/**
 * Makes the hidden field that remembers which values a form shows. Somebody else may change them while the
 * page is open.
 * @param form - the form as it was sent, if it is shown again
 */
export const shownField = (values: Values, form: ReadonlyMap<string, string> | null = null): Html =>
  html`<input type="hidden" name="shown" value="${form?.get('shown') ?? marksOf(values)}">`;

/** Checks whether a submitted value is the one that the form showed, so that it must not be changed. */
export const isAsShown = (form: ReadonlyMap<string, string>, name: string, value: unknown): boolean =>
  (form.get('shown') ?? '').split(' ').includes(`${name}:${markOf(value)}`);

/**
 * Returns the value that a setting gets: the stored value if the form showed the submitted one. If somebody else
 * has changed a list while the form was open, only the items that the form added or removed are changed.
 */
export function editedValue(
  form: ReadonlyMap<string, string>,
  name: string,
  { submitted, stored }: { readonly submitted: unknown; readonly stored: unknown },
): unknown {
  if (isAsShown(form, name, submitted)) return stored;
  const isList = Array.isArray(submitted) && Array.isArray(stored);
  if (!isList || !form.has('shown') || isAsShown(form, name, stored)) return submitted;
  const wasShown = (item: unknown): boolean => isAsShown(form, `${name}.item`, item);
  return [
    ...stored.filter((item) => submitted.includes(item) || !wasShown(item)),
    ...submitted.filter((item) => !stored.includes(item) && !wasShown(item)),
  ];
}
