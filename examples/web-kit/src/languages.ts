/**
 * The language of a page: what the app asked for (`ui_locales`), then what the browser prefers, then the first one.
 *
 * @param supported - primary tags, such as `en`
 */
export function chooseLanguage<Language extends string>(
  supported: readonly [Language, ...Language[]],
  uiLocales: string | undefined,
  acceptLanguage: string | undefined,
): Language {
  const preferred = (acceptLanguage ?? '')
    .split(',')
    .slice(0, 20)
    .map((entry) => {
      const [tag = '', ...parameters] = entry.split(';');
      const quality = /^\s*q=([01](?:\.\d{0,3})?)\s*$/i.exec(parameters[0] ?? '')?.[1];
      return { tag, quality: quality === undefined ? 1 : Number(quality) };
    })
    .filter(({ quality }) => quality > 0)
    .sort((a, b) => b.quality - a.quality)
    .map(({ tag }) => tag);
  for (const tag of [...(uiLocales ?? '').split(' ').slice(0, 20), ...preferred]) {
    const primary = tag.trim().toLowerCase().split('-')[0];
    const found = supported.find((language) => language === primary);
    if (found !== undefined) return found;
  }
  return supported[0];
}
