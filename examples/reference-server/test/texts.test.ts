import { fillText } from '@ostiary/core/pages';
import { expect, test } from 'vitest';
import { type Texts, texts } from '../src/pages/texts.ts';
import { languages } from '../src/settings.ts';

test.each(languages)(
  '%s has every text of the pages, with the same arguments, each of them shown',
  (language) => {
    const argumentsIn = (of: Texts) =>
      Object.entries(of).map(([name, text]) => {
        const values = Array.from(String(text).matchAll(/\{(\w+)[,}]/g), ([, one = '']) => [one, 7] as const);
        const shown = typeof text === 'string' ? fillText(language, text, Object.fromEntries(values)) : '';
        return [name, values, shown.match(/7/g) ?? []].join();
      });
    expect(argumentsIn(texts[language]).sort()).toEqual(argumentsIn(texts.en).sort());
    expect(Object.values(texts[language])).not.toContain('');
  },
);

test.each([
  ['en', 1, 'Please wait a minute and'],
  ['en', 5, 'Please wait 5 minutes and'],
  ['fr', 1, 'patienter une minute avant'],
  ['fr', 5, 'patienter 5 minutes avant'],
  ['ht', 1, 'tann yon minit, apre'],
  ['es', 5, 'Espere 5 minutos e'],
  ['pt', 1, 'Espere um minuto e'],
] as const)('in %s, %i minutes to wait are: %s', (language, minutes, words) => {
  expect(fillText(language, texts[language].throttled, { minutes })).toContain(words);
});
