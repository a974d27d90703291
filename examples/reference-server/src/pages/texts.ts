import { readFileSync } from 'node:fs';
import type en from '../../texts/en.json';
import { type Language, languages } from '../settings.ts';

/** Texts of this server's pages. A test checks that each language has the members of the English file. */
export type Texts = typeof en;

const read = (language: Language): Texts =>
  JSON.parse(readFileSync(new URL(`../../texts/${language}.json`, import.meta.url), 'utf8'));

export const texts = Object.fromEntries(languages.map((language) => [language, read(language)])) as Readonly<
  Record<Language, Texts>
>;
