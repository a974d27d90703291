import { readFileSync } from 'node:fs';
import type en from '../../texts/en.json';
import { type Language, languages } from '../settings.ts';

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
