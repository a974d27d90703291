import { describe, expect, it } from 'vitest';
import { html, render } from '../../src/pages/html.ts';
import { text } from '../../src/pages/text.ts';
import type { languages } from './views.ts';

/** All texts with their path; functions are called with a name. */
function leaves(value: unknown, path: string): { path: string; words: string }[] {
  if (typeof value === 'string') return [{ path, words: value }];
  if (typeof value === 'function') {
    const words: unknown = value('NAME');
    return [
      { path, words: typeof words === 'string' ? words : render(html`${words as ReturnType<typeof html>}`) },
    ];
  }
  return Object.entries(value ?? {}).flatMap(([key, inner]) => leaves(inner, `${path}.${key}`));
}

describe('the words of the pages', () => {
  // That they are the same in every language the compiler sees.
  it('are none of them empty or left untranslated', () => {
    const english = leaves(text.en, 'text');
    for (const [index, { path, words }] of leaves(text.fr, 'text').entries()) {
      expect(words.trim(), path).not.toBe('');
      expect(words, path).not.toBe(english[index]?.words);
    }
  });

  it('name whoever they speak of, in every language', () => {
    const named = (language: (typeof languages)[number]): string[] =>
      leaves(text[language], 'text').flatMap(({ path, words }) => (words.includes('NAME') ? [path] : []));
    expect(named('fr')).toEqual(named('en'));
  });

  it('keep French punctuation on its line', () => {
    for (const { path, words } of leaves(text.fr, 'text')) {
      expect(words, path).not.toMatch(/ [:;?!»]|« |[^\u00a0][:;?!»]/);
      expect(words, path).not.toContain("'");
    }
  });
});
