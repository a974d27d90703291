import { type Language, languages } from '../scopes.ts';

/** Longer input is cut: no browser sends so many languages, and the work stays bounded. */
const maxLength = 1000;

const tagPattern = /^[a-z]{1,8}(?:-[a-z0-9]{1,8})*$/;
const weightPattern = /^q=(0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?)$/;

/** The language of ours that a BCP 47 tag asks for: `fr-HT` is French. */
function languageOf(tag: string): Language | undefined {
  return tagPattern.test(tag) ? languages.find((language) => tag.split('-')[0] === language) : undefined;
}

/** The well-formed ranges of an Accept-Language header (RFC 9110, section 12.5.4); the rest is ignored. */
function parseRanges(header: string) {
  return header.split(',').flatMap((part) => {
    const [tag = '', parameter = 'q=1', ...more] = part.split(';').map((piece) => piece.trim());
    const weight = weightPattern.exec(parameter)?.[1];
    const isKnown = tag === '*' || tagPattern.test(tag);
    return isKnown && weight !== undefined && more.length === 0 ? [{ tag, weight: Number(weight) }] : [];
  });
}

function fromAcceptLanguage(header: string): Language | undefined {
  const ranges = parseRanges(header);
  // `fr-CA;q=0` refuses Canadian French, not the French that these pages are written in; `fr;q=0` refuses all
  // of it.
  const isRefused = (language: Language) =>
    ranges.some(({ tag, weight }) => tag === language && weight === 0);
  const open = languages.filter((language) => !isRefused(language));
  const wanted = ranges
    .filter(({ weight }) => weight > 0)
    .sort((a, b) => b.weight - a.weight || Number(a.tag === '*') - Number(b.tag === '*'));
  const named = wanted.map(({ tag }) => languageOf(tag));
  const found = wanted.map(({ tag }) =>
    open.find((language) => (tag === '*' ? !named.includes(language) : language === languageOf(tag))),
  );
  // Nothing we speak was asked for: at least not a language that was refused.
  return found.find((language) => language !== undefined) ?? open[0];
}

/**
 * Chooses the language of a page: `ui_locales` (OpenID Connect Core, section 3.1.2.1) first, then the
 * browser's `Accept-Language`, then English. Never throws, whatever a caller sends.
 */
export function negotiateLanguage(
  uiLocales: string | undefined,
  acceptLanguage: string | undefined,
): Language {
  const [locales, header] = [uiLocales, acceptLanguage].map((text = '') =>
    text.slice(0, maxLength).toLowerCase(),
  );
  const asked = (locales ?? '').split(/\s+/).map(languageOf);
  return asked.find((language) => language !== undefined) ?? fromAcceptLanguage(header ?? '') ?? languages[0];
}
