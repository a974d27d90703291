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

/** Returns the text for the hidden field `shown` of a form that shows these values. */
const marksOf = (values: Values): string =>
  Object.entries(values)
    .map(([name, value]) => `${name}:${markOf(value)}`)
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
