import { readFileSync } from 'node:fs';
import { type Language, languages } from '@ostiary/core/console';
import type en from '../../texts/en.json';

export type { Language };

/** What the pages say. */
export type Texts = ReturnType<typeof textsOf>;

function textsOf(language: Language) {
  const file = new URL(`../../texts/${language}.json`, import.meta.url);
  // Each file has what the English one has: a test compares them.
  const { throttledOnce, throttledFor, ...rest }: typeof en = JSON.parse(readFileSync(file, 'utf8'));
  return {
    ...rest,
    throttled: (minutes: number): string =>
      minutes <= 1 ? throttledOnce : throttledFor.replace('{minutes}', String(minutes)),
  };
}

export const texts = Object.fromEntries(
  languages.map((language) => [language, textsOf(language)]),
) as Readonly<Record<Language, Texts>>;

/** The language of a page: what the app asked for (`ui_locales`), then what the browser prefers, then English. */
export { negotiateLanguage as chooseLanguage } from '@ostiary/core/console';
