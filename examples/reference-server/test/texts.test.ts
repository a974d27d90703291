import { fillText } from '@ostiary/core/pages';
import { expect, test } from 'vitest';
import { type Texts, texts } from '../src/pages/texts.ts';
import { languages } from '../src/settings.ts';

/** Returns all texts of a language file by their names, also those in nested groups. */
const textsIn = (group: object, path = ''): (readonly [name: string, text: string])[] =>
  Object.entries(group).flatMap(([name, text]) =>
    typeof text === 'string' ? [[`${path}${name}`, text] as const] : textsIn(text, `${path}${name}/`),
  );

test.each(languages)(
  '%s has every text of the pages, with the same arguments, each of them shown',
  (language) => {
    const argumentsIn = (of: Texts) =>
      textsIn(of).map(([name, text]) => {
        const values = Array.from(text.matchAll(/\{(\w+)[,}]/g), ([, one = '']) => [one, 7] as const);
        const shown = fillText(language, text, Object.fromEntries(values));
        return [name, values.toSorted(), shown.match(/7/g) ?? []].join();
      });
    expect(argumentsIn(texts[language]).sort()).toEqual(argumentsIn(texts.en).sort());
    expect(textsIn(texts[language]).map(([, text]) => text)).not.toContain('');
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
