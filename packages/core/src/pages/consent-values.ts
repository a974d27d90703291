import { type PageLanguage, userDayIn } from '../languages/page-language.ts';
import { fillText } from './fill.ts';

/**
 * Fields of userinfo whose values mean nothing to a user, so that the consent page leaves them out: ids, URLs
 * of pictures, the time of the last change, and whether other fields were verified.
 */
const unshown: ReadonlySet<string> = new Set([
  ...['sub', 'avatarUrl', 'picture', 'updated_at'],
  ...['email_verified', 'phone_number_verified'],
]);

/** Maximum number of characters of a value that the consent page shows. Longer values end with an ellipsis. */
const maxLength = 120;

const currencies: { readonly [field: string]: string } = { htgBalance: 'HTG', usdBalance: 'USD' };

/** Returns the name of a country in a language, or in French if the language is unknown to `Intl`. */
function countryName(code: string, { tag }: PageLanguage): string {
  try {
    return new Intl.DisplayNames([tag, 'fr'], { type: 'region' }).of(code) ?? code;
  } catch {
    return code;
  }
}

/** Returns a user's value as text for the consent page; `null` if it cannot be shown in a line. */
function plainText(value: unknown): string | null {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return String(value);
  if (typeof value === 'object' && value !== null && 'formatted' in value) return plainText(value.formatted);
  return null;
}

/**
 * Returns the text in which the consent page shows a field of userinfo; `null` if the page leaves the field
 * out.
 */
function fieldText(
  field: string,
  value: unknown,
  language: PageLanguage,
  timeZone: string | null,
): string | null {
  const words = language.texts.consent.values;
  const fillIn = (text: string, values: { readonly [name: string]: string }) =>
    fillText(language.tag, text, values);
  if (unshown.has(field)) return null;
  if (field === 'activeCredentials')
    return Array.isArray(value) ? value.map(({ type }) => String(type)).join(', ') : null;
  const text = plainText(value);
  if (text === null || text === '') return null;
  if (field === 'country') return countryName(text, language);
  if (field === 'createdAt')
    return fillIn(words.memberSince, { date: userDayIn(language, new Date(text), timeZone) });
  if (field === 'handle') return `@${text}`;
  if (field === 'kycStatus') return fillIn(words.identityCheck, { status: text });
  if (field === 'kycTier') return fillIn(words.level, { level: text });
  const currency = currencies[field];
  return currency === undefined ? text : `${text} ${currency}`;
}

/**
 * Returns the user's own data of a scope as short texts for the consent page, in the order of userinfo.
 * @param claims - fields that userinfo returns for the scope
 * @param timeZone - time zone for dates; `null` if the user's is not known
 */
export function valueTexts(
  claims: { readonly [field: string]: unknown },
  language: PageLanguage,
  timeZone: string | null,
): string[] {
  return Object.entries(claims).flatMap(([field, value]) => {
    const text = fieldText(field, value, language, timeZone);
    if (text === null || text === '') return [];
    return [text.length > maxLength ? `${text.slice(0, maxLength)}…` : text];
  });
}
