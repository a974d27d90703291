import { type Language, languages } from '../scopes.ts';

/** Longer input is cut: no browser sends so many languages, and the work stays bounded. */
const maxLength = 1000;

const tagPattern = /^[a-z]{1,8}(?:-[a-z0-9]{1,8})*$/;
const weightPattern = /^q=(0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?)$/;

/** The language of ours that a BCP 47 tag asks for: `fr-HT` is French. */
function languageOf(tag: string): Language | undefined {
  if (!tagPattern.test(tag)) return undefined;
  const [primary] = tag.split('-');
  return languages.find((language) => language === primary);
}

function fromUiLocales(uiLocales: string): Language | undefined {
  for (const tag of uiLocales.slice(0, maxLength).toLowerCase().split(/\s+/)) {
    const language = languageOf(tag);
    if (language) return language;
  }
  return undefined;
}

interface Range {
  readonly tag: string;
  readonly weight: number;
}

/** The well-formed ranges of an Accept-Language header (RFC 9110, section 12.5.4); the rest is ignored. */
function parseRanges(header: string): readonly Range[] {
  return header
    .slice(0, maxLength)
    .toLowerCase()
    .split(',')
    .flatMap((part): Range[] => {
      const [tag = '', parameter, ...more] = part.split(';').map((piece) => piece.trim());
      const weight = parameter === undefined ? '1' : weightPattern.exec(parameter)?.[1];
      const known = tag === '*' || tagPattern.test(tag);
      return known && weight !== undefined && more.length === 0 ? [{ tag, weight: Number(weight) }] : [];
    });
}

/** How much a language is wanted, 0 meaning never; `undefined` when the header does not speak of it. */
function weightOf(language: Language, ranges: readonly Range[]): number | undefined {
  // `fr-CA;q=0` refuses Canadian French, not the French that these pages are written in; `fr;q=0` refuses all
  // of it.
  if (ranges.some(({ tag, weight }) => tag === language && weight === 0)) return 0;
  const wanted = ranges.filter(({ tag, weight }) => weight > 0 && languageOf(tag) === language);
  const named = wanted.length > 0 ? wanted : ranges.filter(({ tag }) => tag === '*');
  return named.length > 0 ? Math.max(...named.map(({ weight }) => weight)) : undefined;
}

function fromAcceptLanguage(header: string): Language | undefined {
  const ranges = parseRanges(header);
  const position = (language: Language): number => {
    const index = ranges.findIndex(({ tag }) => languageOf(tag) === language);
    return index < 0 ? ranges.length : index;
  };
  const weighed = languages.map((language) => ({ language, weight: weightOf(language, ranges) }));
  const [best] = weighed
    .flatMap(({ language, weight = 0 }) => (weight > 0 ? [{ language, weight }] : []))
    .sort((a, b) => b.weight - a.weight || position(a.language) - position(b.language));
  // Nothing we speak was asked for: at least not a language that was refused.
  return best?.language ?? weighed.find(({ weight }) => weight === undefined)?.language;
}

/**
 * Chooses the language of a page: `ui_locales` (OpenID Connect Core, section 3.1.2.1) first, then the
 * browser's `Accept-Language`, then English. Never throws, whatever a caller sends.
 */
export function negotiateLanguage(
  uiLocales: string | undefined,
  acceptLanguage: string | undefined,
): Language {
  return fromUiLocales(uiLocales ?? '') ?? fromAcceptLanguage(acceptLanguage ?? '') ?? languages[0];
}
