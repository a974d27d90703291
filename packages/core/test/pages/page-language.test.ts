import { describe, expect, it } from 'vitest';
import type { HostTexts, OstiaryOptions } from '../../src/index.ts';
import { choosePageLanguage, timeZoneOf, userDayIn } from '../../src/languages/page-language.ts';
import { startProvider } from '../support/running.ts';
import { arabic, languageOf, speaking } from './views.ts';

const five = ['en', 'fr', 'ht', 'es', 'pt'];

const refusal = async (languages: readonly string[], texts: HostTexts): Promise<string> => {
  try {
    await speaking(languages, texts);
    return 'accepted';
  } catch (error) {
    expect(error).toBeInstanceOf(TypeError);
    return String(error).replace('TypeError: ', '');
  }
};

describe('the option languages', () => {
  it('determines the language of pages, of discovery, and of consent pages of hosts', async () => {
    const provider = await startProvider({ languages: ['ht', 'es', 'ar'], texts: { ar: arabic } });
    const { ui_locales_supported } = (await provider.request('/.well-known/openid-configuration')).json();
    expect(ui_locales_supported).toEqual(['ht', 'es', 'ar']);
    const page = async (accepted: string) =>
      (
        await provider.request('/oauth/authorize', {
          headers: { accept: 'text/html', 'accept-language': accepted },
        })
      ).text;
    expect(await page('es-MX,en;q=0.9')).toContain('<html lang="es">');
    expect(await page('ar')).toContain('<html lang="ar" dir="rtl">');
    // The first language is used if none matches.
    for (const other of ['en', 'fr', 'de']) expect(await page(other)).toContain('<html lang="ht">');
    expect(await page('ht')).toContain('Aplikasyon an fè yon erè');
  });

  it('is English and French where it is not given', async () => {
    const provider = await startProvider();
    const answer = await provider.request('/oauth/authorize', {
      headers: { accept: 'text/html', 'accept-language': 'ht, es, pt' },
    });
    expect(answer.text).toContain('<html lang="en">');
  });

  it.each<readonly [Partial<OstiaryOptions>, string]>([
    [{ languages: [] }, 'languages: '],
    [{ languages: ['en', 'en'] }, 'languages: names one twice'],
    [{ languages: ['english!'] }, 'languages.0: must be a language tag such as pt or pt-BR'],
    [{ languages: ['pt-br'] }, 'languages.0: must be a language tag such as pt or pt-BR'],
    [{ languages: ['en', 'de'] }, 'languages: de does not ship; give its words as texts.de'],
    [{ texts: { de: arabic } }, 'texts.de: languages does not name de'],
    [{ texts: 7 as never }, 'texts: '],
  ])('%j is refused', async (options, message) => {
    await expect(startProvider(options)).rejects.toThrow(`createOstiary: ${message}`);
  });
});

describe('texts of the host', () => {
  it('replace words of a language that ships, and leave the others', async () => {
    const [language] = await speaking(['en'], {
      en: { consent: { approve: 'Yes' }, scopes: { kyc: { title: 'See that you are you' } } },
    });
    const { consent, scopes, apps } = language?.texts ?? languageOf('ar').texts;
    expect([consent.approve, consent.deny, scopes.kyc.title]).toEqual([
      'Yes',
      'Deny',
      'See that you are you',
    ]);
    expect(scopes.kyc.detail).toContain('identity was verified');
    expect(apps).toEqual(languageOf('en').texts.apps);
  });

  it('of another language are whole, with the braces of English', async () => {
    expect(await refusal(['de'], { de: arabic })).toBe('accepted');
    const { technical: _, ...without } = arabic;
    expect(await refusal(['de'], { de: without })).toBe('texts.de.technical: is missing');
    const { kyc: __, ...scopes } = arabic.scopes;
    expect(await refusal(['de'], { de: { ...arabic, scopes } })).toBe('texts.de.scopes.kyc: is missing');
    expect(await refusal(['de'], { de: {} })).toMatch(
      /^texts\.de\.language: is missing; .*texts\.de\.scopes\.identity: is missing$/,
    );
  });

  it.each<readonly [HostTexts['en'] | object, string]>([
    [{ consent: { title: 'Allow it?' } }, 'texts.en.consent.title: has to hold {client}'],
    [{ consent: { title: '{client} {client}' } }, 'texts.en.consent.title: has to hold {client}'],
    [{ consent: { approve: 'Allow {client}' } }, 'texts.en.consent.approve: has to hold no braces'],
    [{ consent: { approve: ' ' } }, 'texts.en.consent.approve: is empty'],
    [
      { consent: { approve: 'x'.repeat(2001) } },
      'texts.en.consent.approve: has to have at most 2000 characters',
    ],
    [{ consent: 'Allow' }, 'texts.en.consent: has to be an object'],
    [{ consent: { aprove: 'Allow' } }, 'texts.en.consent.aprove: is not a known field'],
    [{ scopes: { email: { title: 'x', detail: 'y' } } }, 'texts.en.scopes.email: is not a known field'],
    [{ months: ['January'] }, 'texts.en.months: has to have at least 12 entries'],
  ])('%j is refused, with the path', async (en, message) => {
    expect(await refusal(['en'], { en } as HostTexts)).toBe(message);
  });

  it('cannot bring markup or reach into prototypes', async () => {
    const provider = await startProvider({
      texts: { en: { errors: { invalid_request: { title: '<script>alert(1)</script>' } } } },
    });
    const { text } = await provider.request('/oauth/authorize', { headers: { accept: 'text/html' } });
    expect(text).not.toContain('<script>');
    expect(await refusal(['en'], JSON.parse('{"en":{"__proto__":{"x":"y"}}}'))).toBe(
      'texts.en.__proto__: is not a known field',
    );
  });
});

describe('the language of a page', async () => {
  const offered = await speaking(five, {});

  it.each([
    ['ht', 'ht-HT, fr;q=0.9'],
    ['fr', 'de, fr-CA;q=0.8'],
    ['pt', 'pt-BR'],
    ['es', 'es-419,es;q=0.9,en;q=0.8'],
    ['en', 'ar'],
  ])('is %s for %s', (tag, header) => {
    expect(choosePageLanguage(offered, undefined, header).tag).toBe(tag);
    expect(choosePageLanguage(offered, header.split(/[,;]/)[0], 'en').tag).toBe(tag === 'fr' ? 'en' : tag);
  });

  it('is the nearest of those that are offered', async () => {
    const texts = { 'pt-PT': arabic, 'zh-Hant': arabic };
    const near = await speaking(['en', 'pt', 'pt-PT', 'zh-Hant'], texts);
    for (const [asked, tag] of [
      ['pt-BR', 'pt'],
      ['pt-PT', 'pt-PT'],
      ['pt-PT-x-a', 'pt-PT'],
      ['zh-Hant-TW', 'zh-Hant'],
      ['zh', 'zh-Hant'],
      ['ptx', 'en'],
    ] as const)
      expect([asked, choosePageLanguage(near, asked, undefined).tag]).toEqual([asked, tag]);
  });
});

it.each([
  ['en', 'January 5, 2026'],
  ['fr', '5 janvier 2026'],
  ['ht', '5 janvye 2026'],
  ['es', '5 de enero de 2026'],
  ['pt', '5 de janeiro de 2026'],
])('a day in %s is written %s', (tag, written) => {
  const language = languageOf(tag);
  expect(userDayIn(language, new Date('2026-01-05T23:59:59.999Z'), null)).toBe(`${written} (UTC)`);
  // Time zone five hours behind UTC.
  expect(userDayIn(language, new Date('2026-01-06T04:59:59.999Z'), 'America/Port-au-Prince')).toBe(written);
});

it.each<readonly [unknown, string | null]>([
  ['America/Port-au-Prince', 'America/Port-au-Prince'],
  ['Europe/Paris', 'Europe/Paris'],
  ['Mars/Olympus', null],
  ['', null],
  [null, null],
  [undefined, null],
  [7, null],
])('the time zone of a record with zoneinfo %j is %s', (zoneinfo, zone) => {
  expect(timeZoneOf(zoneinfo)).toBe(zone);
});
