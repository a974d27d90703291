/**
 * Maximum number of characters of `Accept-Language` and `ui_locales` that are read, to bound the work. Real
 * browsers send less.
 */
const maxLength = 1000;

const tagPattern = /^[a-z]{1,8}(?:-[a-z0-9]{1,8})*$/;
const weightPattern = /^q=(0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?)$/;

/** Checks whether a language tag equals another tag or is narrower: `fr-ca` is below `fr`. */
const isBelow = (inner: string, outer: string): boolean => `${inner}-`.startsWith(`${outer}-`);

/**
 * Returns the offered language that best fits a BCP 47 tag: `fr` for `fr-HT`, and `fr-CA` for `fr` if only
 * `fr-CA` is offered.
 */
function languageOf<Tag extends string>(tag: string, offered: readonly Tag[]): Tag | undefined {
  if (!tagPattern.test(tag)) return undefined;
  const exact = offered.filter((language) => isBelow(tag, language.toLowerCase()));
  const longest = exact.sort((a, b) => b.length - a.length)[0];
  return longest ?? offered.find((language) => isBelow(language.toLowerCase(), tag.split('-')[0] ?? tag));
}

/** Parses an Accept-Language header (RFC 9110, section 12.5.4). Ignores malformed ranges. */
function parseRanges(header: string) {
  return header.split(',').flatMap((part) => {
    const [tag = '', parameter = 'q=1', ...more] = part.split(';').map((piece) => piece.trim());
    const weight = weightPattern.exec(parameter)?.[1];
    const isKnown = tag === '*' || tagPattern.test(tag);
    return isKnown && weight !== undefined && more.length === 0 ? [{ tag, weight: Number(weight) }] : [];
  });
}

function fromAcceptLanguage<Tag extends string>(header: string, offered: readonly Tag[]): Tag | undefined {
  const ranges = parseRanges(header);
  // The narrowest range of an offered language decides whether it is refused: `fr;q=0` refuses `fr-CA`, unless
  // `fr-CA` has a weight of its own. `fr-CA;q=0` does not refuse an offered `fr`.
  const isRefused = (language: Tag) => {
    const [narrowest] = ranges
      .filter(({ tag }) => isBelow(language.toLowerCase(), tag))
      .sort((a, b) => b.tag.length - a.tag.length || a.weight - b.weight);
    return narrowest?.weight === 0;
  };
  const open = offered.filter((language) => !isRefused(language));
  const wanted = ranges
    .filter(({ weight }) => weight > 0)
    .sort((a, b) => b.weight - a.weight || Number(a.tag === '*') - Number(b.tag === '*'));
  const named = wanted.map(({ tag }) => languageOf(tag, open));
  const found = wanted.map(({ tag }, place) =>
    tag === '*' ? open.find((language) => !named.includes(language)) : named[place],
  );
  // If no wanted language is offered, use one that was not refused.
  return found.find((language) => language !== undefined) ?? open[0];
}

/**
 * Chooses the language of a page: from `ui_locales` (OpenID Connect Core, section 3.1.2.1), then from the
 * browser's `Accept-Language`, then the first offered language. Never throws, even for malformed input.
 */
export function negotiateLanguage<Tag extends string>(
  uiLocales: string | undefined,
  acceptLanguage: string | undefined,
  offered: readonly Tag[],
): Tag {
  const [locales, header] = [uiLocales, acceptLanguage].map((text = '') =>
    text.slice(0, maxLength).toLowerCase(),
  );
  // Some clients, such as Java programs, write `fr_CA`.
  const tags = (locales ?? '').replaceAll('_', '-').split(/\s+/);
  const asked = tags.map((tag) => languageOf(tag, offered));
  const chosen =
    asked.find((language) => language !== undefined) ?? fromAcceptLanguage(header ?? '', offered);
  return chosen ?? (offered[0] as Tag);
}
