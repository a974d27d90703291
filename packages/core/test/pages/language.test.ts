import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { negotiateLanguage } from '../../src/pages/language.ts';

describe('the language of a page', () => {
  it.each([
    // ui_locales, Accept-Language, language
    [undefined, undefined, 'en'],
    ['', '', 'en'],
    ['fr', undefined, 'fr'],
    ['fr-HT', 'en', 'fr'],
    ['FR-ht', 'en', 'fr'],
    ['fr-Latn-HT-x-private', undefined, 'fr'],
    ['ht fr en', 'en', 'fr'],
    ['en-GB fr', 'fr', 'en'],
    ['  de \t fr  ', undefined, 'fr'],
    ['fr-', 'en', 'en'],
    ['french', undefined, 'en'],
    ['fr;q=0', undefined, 'en'],
    ['de', 'fr', 'fr'],
    ['<script>', 'fr', 'fr'],
    [undefined, 'fr', 'fr'],
    [undefined, 'fr-CA', 'fr'],
    [undefined, 'de, fr;q=0.5', 'fr'],
    [undefined, 'en;q=0.4, fr;q=0.5', 'fr'],
    [undefined, 'en;q=0.5, fr;q=0.4', 'en'],
    [undefined, 'fr, en', 'fr'],
    [undefined, 'en, fr', 'en'],
    [undefined, 'ht, fr-HT;q=0.9, fr;q=0.8, en;q=0.7', 'fr'],
    [undefined, 'fr;q=0.001', 'fr'],
    [undefined, 'en;q=0.3, fr;q=0.2, fr-HT;q=0.9', 'fr'],
    [undefined, 'de', 'en'],
    [undefined, '*', 'en'],
    [undefined, '*;q=0.8, en;q=0.3', 'fr'],
    [undefined, 'fr;q=0.3, *;q=0.8', 'en'],
    [undefined, 'fr ; q=0.5 ,en ; q=0.1', 'fr'],
    [undefined, 'fr;Q=0.5', 'fr'],
    // A weight of 0 means never.
    [undefined, 'fr;q=0', 'en'],
    [undefined, 'fr;q=0.000, fr-CA', 'en'],
    [undefined, 'en;q=0', 'fr'],
    [undefined, 'en;q=0, *', 'fr'],
    [undefined, '*;q=0', 'en'],
    [undefined, 'fr, *;q=0', 'fr'],
    [undefined, 'en;q=0, fr;q=0', 'en'],
    [undefined, 'fr-CA;q=0, fr', 'fr'],
  ])('ui_locales %j with Accept-Language %j is %s', (uiLocales, acceptLanguage, expected) => {
    expect(negotiateLanguage(uiLocales, acceptLanguage)).toBe(expected);
  });

  it.each([
    'fr;q=2',
    'fr;q=',
    'fr;q=-1',
    'fr;q=1.5',
    'fr;q=0.1234',
    'fr;q=NaN',
    'fr;level=1',
    'fr;q=1;x=1',
    'f r',
    'fr_FR',
    ';q=1',
    ',,,',
  ])('the malformed range %j is ignored', (range) => {
    expect(negotiateLanguage(undefined, range)).toBe('en');
    expect(negotiateLanguage(undefined, `${range}, en;q=0.1, fr-HT;q=0.9`)).toBe('fr');
  });

  it('stops reading after a length that no browser sends', () => {
    const megabyte = 1_000_000;
    expect(negotiateLanguage(`${'x '.repeat(megabyte)}fr`, `${'x,'.repeat(megabyte)}fr`)).toBe('en');
    expect(negotiateLanguage('fr'.repeat(megabyte), `fr;q=0.${'1'.repeat(megabyte)}`)).toBe('en');
    expect(negotiateLanguage(' '.repeat(megabyte), `fr,${';'.repeat(megabyte)}`)).toBe('fr');
  });

  it('is one of ours, whatever is sent', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 3000 }),
        fc.string({ maxLength: 3000 }),
        (one, other) => {
          expect(['en', 'fr']).toContain(negotiateLanguage(one, other));
        },
      ),
    );
  });
});
