import { expect, test } from 'vitest';
import { type Texts, texts } from '../src/pages/texts.ts';
import { languages } from '../src/settings.ts';

test.each(languages)('%s has every text of the pages, with the same gaps to fill', (language) => {
  const gapsOf = (of: Texts) =>
    Object.entries(of).map(([name, text]) => `${name} ${String(text).match(/\{\w+\}/g) ?? ''}`);
  expect(gapsOf(texts[language]).sort()).toEqual(gapsOf(texts.en).sort());
  expect(Object.values(texts[language])).not.toContain('');
});
