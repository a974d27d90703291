import fc from 'fast-check';
import { expect, it } from 'vitest';
import { negotiateLanguage as negotiate } from '../../src/pages.ts';

/** Negotiates the language with English and French available. */
const negotiateLanguage = (uiLocales: string | undefined, acceptLanguage: string | undefined): string =>
  negotiate(uiLocales, acceptLanguage, ['en', 'fr']);

it.each([
  ['fr', ['fr', 'fr-CA', 'fr;q=0.001', 'fr;Q=0.5', 'fr ; q=0.5 ,en ; q=0.1', 'en;q=0.4, fr;q=0.5']],
  ['fr', ['fr, en', 'de, fr;q=0.5', 'ht, fr-HT;q=0.9, fr;q=0.8, en;q=0.7']],
  ['fr', ['en;q=0.3, fr;q=0.2, fr-HT;q=0.9', '*;q=0.8, en;q=0.3']],
  ['en', [undefined, '', '*', 'de', 'en, fr', 'en;q=0.5, fr;q=0.4', 'fr;q=0.3, *;q=0.8']],
  // A weight of 0 means never.
  ['fr', ['en;q=0', 'en;q=0, *', 'fr, *;q=0', 'fr-CA;q=0, fr']],
  ['en', ['fr;q=0', 'fr;q=0.000, fr-CA', '*;q=0', 'en;q=0, fr;q=0']],
])('a page is in %s for Accept-Language %j', (expected, headers) => {
  for (const header of headers)
    expect([header, negotiateLanguage(undefined, header)]).toEqual([header, expected]);
});

it.each([
  ['fr', undefined, ['fr', 'fr-Latn-HT-x-private', '  de \t fr  ']],
  ['fr', 'en', ['fr-HT', 'FR-ht', 'ht fr en']],
  ['en', 'fr', ['en-GB fr']],
  ['en', 'en', ['fr-', 'french', 'fr;q=0']],
  ['fr', 'fr', ['de', '<script>', '']],
])('a page is in %s, where Accept-Language is %s, for ui_locales %j', (expected, header, locales) => {
  for (const asked of locales) expect([asked, negotiateLanguage(asked, header)]).toEqual([asked, expected]);
});

it('a malformed range is ignored', () => {
  const weights = ['2', '', '-1', '1.5', '0.1234', 'NaN', '1;x=1'].map((weight) => `fr;q=${weight}`);
  for (const range of [...weights, 'fr;level=1', 'f r', 'fr_FR', ';q=1', ',,,']) {
    expect([range, negotiateLanguage(undefined, range)]).toEqual([range, 'en']);
    expect([range, negotiateLanguage(undefined, `${range}, en;q=0.1, fr-HT;q=0.9`)]).toEqual([range, 'fr']);
  }
});

it('reading stops after a length that no browser sends', () => {
  const megabyte = 1_000_000;
  expect(negotiateLanguage(`${'x '.repeat(megabyte)}fr`, `${'x,'.repeat(megabyte)}fr`)).toBe('en');
  expect(negotiateLanguage('fr'.repeat(megabyte), `fr;q=0.${'1'.repeat(megabyte)}`)).toBe('en');
  expect(negotiateLanguage(' '.repeat(megabyte), `fr,${';'.repeat(megabyte)}`)).toBe('fr');
});

it('the language is always a supported one', () => {
  const texts = fc.string({ unit: 'binary', maxLength: 3000 });
  const isOurs = (one: string, other: string) => ['en', 'fr'].includes(negotiateLanguage(one, other));
  fc.assert(fc.property(texts, texts, isOurs));
});

it.each([
  ['en', ['fr;q=0', 'fr;q=0, fr-FR', 'fr, fr-CA;q=0', 'fr-CA, fr-CA;q=0', 'fr-CA-x-private;q=0']],
  ['fr-CA', ['fr-CA, fr;q=0', 'fr;q=0, fr-CA;q=0.1', 'fr, fr-C;q=0', 'fr, f;q=0', 'fr, fr-CA-x-private;q=0']],
])('of English and French of Canada, a page is in %s for Accept-Language %j', (expected, headers) => {
  for (const header of headers)
    expect([header, negotiate(undefined, header, ['en', 'fr-CA'])]).toEqual([header, expected]);
});

it('a refused language leaves the others that a range includes', () => {
  expect(negotiate(undefined, 'fr-CA;q=0, fr', ['en', 'fr-CA', 'fr-FR'])).toBe('fr-FR');
});

it('any languages may be offered', () => {
  const offered = ['en', 'ht', 'pt'];
  expect(negotiate('pt-BR', 'ht', offered)).toBe('pt');
  expect(negotiate(undefined, 'fr, ht;q=0.5', offered)).toBe('ht');
  expect(negotiate(undefined, 'de', offered)).toBe('en');
});
