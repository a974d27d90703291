import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { fillText, render } from '@ostiary/core/pages';
import { beforeAll, describe, expect, it } from 'vitest';
import english from '../languages/en.json' with { type: 'json' };
import { failureKind } from '../src/delivery.ts';
import { counted, dueMoment, moment, stateWords } from '../src/parts.ts';
import { allWords, type Language, languages, voiceOf, type Words } from '../src/words.ts';
import { act, operatorsKit, visited } from './console-kit.ts';

type Leaf = { readonly path: string; readonly words: string };

/** Lists all texts of the console with their paths. */
function leaves(value: unknown, path = ''): Leaf[] {
  if (typeof value === 'string') return [{ path, words: value }];
  return Object.entries(value ?? {}).flatMap(([key, inner]) => leaves(inner, `${path}.${key}`));
}

/** Returns a recognizable value for each argument of a text's ICU message. */
const samples = (message: string): Readonly<Record<string, string>> =>
  Object.fromEntries(Array.from(message.matchAll(/\{(\w+)/g), ([, name = '']) => [name, `<${name}>`]));

/** Texts of the console that are identical in English, Spanish and Portuguese. */
const iberian = [
  '.endpoints.title',
  '.events.endpoint',
  '.events.json',
  '.operators.webhooks.endpoints',
  '.snippets.curl',
  '.snippets.python',
  '.snippets.sdk',
  '.tools.signature.endpoint',
];

/** Texts of the console that may be identical to the English ones, by language. */
const sameAsEnglish: { readonly [L in Language]?: readonly string[] } = {
  es: iberian,
  pt: iberian,
  ht: ['.snippets.curl', '.snippets.python', '.snippets.sdk'],
};

const others = languages.filter((language) => language !== 'en');
const texts = leaves(english);

describe.each(others)('the words of the console in %s', (language) => {
  let own: readonly Leaf[];

  beforeAll(async () => {
    own = leaves(await allWords[language]());
  });

  it('are the same set as in English; none is empty, and none is left untranslated', () => {
    expect(texts.length).toBeGreaterThan(450);
    expect(own.map(({ path }) => path)).toEqual(texts.map(({ path }) => path));
    expect(own.filter(({ words }) => words.trim() === '')).toEqual([]);
    const same = own.filter(({ words }, index) => words === texts[index]?.words);
    expect(same.map(({ path }) => path).sort()).toEqual(sameAsEnglish[language] ?? []);
  });

  it('have the same placeholders, and use each of them', () => {
    const shown = (all: readonly Leaf[], tag: Language) =>
      all.map(({ path, words }) => {
        const values = samples(words);
        const text = fillText(tag, words, values);
        return [path, Object.keys(values).sort(), text.match(/<\w+>/g)?.sort() ?? [], /[{}]/.test(text)];
      });
    expect(shown(own, language)).toEqual(shown(texts, 'en'));
    expect(shown(own, language).filter(([, , , hasBraces]) => hasBraces)).toEqual([]);
  });

  it('contain no markup, and keep code unchanged', () => {
    const named = (all: readonly Leaf[]) =>
      all.map(({ path, words }) => [
        path,
        [...(words.match(/kyc\.updated|[12]xx|4xx|OSTIARY_API_KEY/g) ?? [])].sort(),
      ]);
    expect(named(own)).toEqual(named(texts));
    expect(own.filter(({ words }) => /[<>&]/.test(words))).toEqual([]);
  });

  it('have typographic quotation marks', () => {
    for (const { path, words } of own) expect(words, path).not.toMatch(/['"]| {2}/);
  });

  if (language === 'fr')
    it('keep French punctuation on its line', () => {
      for (const { path, words } of own) expect(words, path).not.toMatch(/ [:;?!»]|« |[^\u00a0][:;?!»]/);
    });
  else
    it('have no space before punctuation, as French has', () => {
      for (const { path, words } of own) expect(words, path).not.toMatch(/\s[:;?!.»”]|\s,(?!0)|\u00a0/);
    });
});

describe('the voice of a page', () => {
  it.each([
    [undefined, 'en'],
    ['', 'en'],
    ['de', 'en'],
    ['*', 'en'],
    ['fr-HT, en;q=0.5', 'fr'],
    ['ht', 'ht'],
    ['es-DO,es;q=0.9,en;q=0.8', 'es'],
    ['pt-BR', 'pt'],
    ['en;q=0', 'fr'],
  ])('for Accept-Language %j is %s', async (header, language) => {
    const voice = await voiceOf(header);
    expect(voice.language).toBe(language);
    expect(voice.words).toBe(await allWords[voice.language]());
  });

  it('has the words of its language', async () => {
    const submit = await Promise.all(languages.map(async (one) => (await allWords[one]()).signIn.submit));
    expect(submit).toEqual(['Sign in', 'Se connecter', 'Konekte', 'Iniciar sesión', 'Entrar']);
  });

  it('is loaded when it is requested', async () => {
    const script = `
      import { registerHooks } from 'node:module';
      const loaded = [];
      registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
      const { voiceOf } = await import(${JSON.stringify(new URL('../src/words.ts', import.meta.url).href)});
      await voiceOf('es');
      console.log(JSON.stringify(loaded));
    `;
    const { stdout } = await promisify(execFile)(process.execPath, [
      ...['--conditions=ostiary-source', '--input-type=module', '--eval', script],
    ]);
    const found = /languages\/(\w\w)\.json$/;
    expect((JSON.parse(stdout) as string[]).flatMap((url) => found.exec(url)?.[1] ?? [])).toEqual([
      'en',
      'es',
    ]);
  });

  it.each([
    ['en', '31 Jan 2026, 14:05:00 UTC', '(in 2 minutes)', '10,000'],
    ['fr', '31 janv. 2026, 14:05:00 UTC', '(dans 2 minutes)', '10\u202f000'],
    ['es', '31 ene 2026, 14:05:00 UTC', '(dentro de 2 minutos)', '10.000'],
    ['pt', '31 de jan. de 2026, 14:05:00 UTC', '(em 2 minutos)', '10.000'],
    // French formats, because `Intl` does not know the language.
    ['ht', '31 janv. 2026, 14:05:00 UTC', '(dans 2 minutes)', '10\u202f000'],
  ] as const)('writes dates and numbers as in %s', (language, date, left, number) => {
    const time = '2026-01-31T14:05:00.000Z';
    expect(render(moment(time, language)).replace(/<[^>]*>/g, '')).toBe(date);
    expect(render(dueMoment(time, Date.parse(time) - 130_000, language))).toContain(`>${left}<`);
    expect(counted(10_000, language)).toBe(number);
  });
});

describe('the states of deliveries', () => {
  it('are counted, without a number if there is one delivery', async () => {
    expect(stateWords([], english)).toEqual([['none', 'No endpoint']]);
    expect(stateWords(['dropped'], english)).toEqual([['dropped', 'Dropped']]);
    const words = stateWords(['delivered', 'pending', 'delivered'], await allWords.fr());
    expect(words.map(([, text]) => text)).toEqual(['En file d’attente', 'Livré × 2']);
  });
});

describe('why an attempt failed', () => {
  it.each([
    ...Object.keys(english.failures)
      .filter((kind) => !/^(status_|unknown$)/.test(kind))
      .map((kind) => [kind, null, kind] as const),
    ...[402, 409, 413, 199].map((status) => ['status', status, 'status_other'] as const),
    ...[400, 401, 403].map((status) => ['status', status, 'status_denied'] as const),
    ...[404, 405, 410].map((status) => ['status', status, 'status_missing'] as const),
    ['status', 429, 'status_busy'],
    ...[500, 503].map((status) => ['status', status, 'status_server'] as const),
    ['a class of tomorrow', null, 'unknown'],
    ['constructor', null, 'unknown'],
  ] as const)('%s with status %s is explained as %s', (error, httpStatus, kind) => {
    expect(failureKind({ error, httpStatus }, english)).toBe(kind);
    const failures: Record<string, { readonly advice: string }> = english.failures;
    expect(failures[kind]?.advice.length).toBeGreaterThan(20);
  });
});

/**
 * Returns the paths of pages for partners, each with a text of the page's content (not of its layout), which
 * must appear in the page's language.
 */
const partnerPages = (event: string, endpoint: string) =>
  [
    ['/sandbox', ({ trigger }: Words) => trigger.title],
    ['/sandbox', ({ firstRun }: Words) => firstRun.intro],
    ['/sandbox?notice=endpoint_added', ({ notices }: Words) => notices.endpoint_added],
    [`/sandbox/events/${event}`, ({ failures }: Words) => failures.timeout.what],
    [`/sandbox/endpoints/${endpoint}`, ({ recovery }: Words) => recovery.hint],
    [
      `/sandbox/endpoints/${endpoint}?queued=7`,
      ({ recovery }: Words) => recovery.done.replace('{count}', '7'),
    ],
    ['/sandbox/endpoints', ({ endpoints }: Words) => endpoints.secretHint],
    [`/sandbox/endpoints/${endpoint}/edit`, ({ endpoints }: Words) => endpoints.editUrlHint],
    [`/sandbox/endpoints/${endpoint}/secret`, ({ secrets }: Words) => secrets.generateHint],
    ['/sandbox/trigger?type=webhook.test', ({ trigger }: Words) => trigger.dataHint],
    ['/sandbox/requests', ({ requests }: Words) => requests.kept],
    ['/sandbox/tools', ({ tools }: Words) => tools.signature.intro],
    ['/sandbox/tools?notice=kyc_reset', ({ notices }: Words) => notices.kyc_reset],
  ] as const;

const operatorPages = [
  ['', ({ operators }: Words) => operators.overview.failingHint],
  ['/partners', ({ operators }: Words) => operators.partners.slugHint],
  ['/partners/kafe', ({ operators }: Words) => operators.partners.disableHint],
  ['/partners/kafe/keys', ({ operators }: Words) => operators.keys.allowlistHint],
  ['/partners/kafe/webhooks', ({ operators }: Words) => operators.webhooks.noEndpoints],
  ['/clients', ({ operators }: Words) => operators.clients.empty],
  ['/new-client', ({ operators }: Words) => operators.clients.redirectUrisHint],
  ['/user?sub=u-1', ({ operators }: Words) => operators.users.endHint],
  ['/audit', ({ operators }: Words) => operators.audit.verifyHint],
  ['/signing-keys', ({ operators }: Words) => operators.signingKeys.rotateHint],
  ['/upkeep', ({ operators }: Words) => operators.upkeep.purgeHint],
] as const;

/** Finds English sentences and unreplaced placeholders on a page in another language. */
const leftOver = (text: string): string[] => [
  ...texts.flatMap(({ words }) => (words.length > 25 && text.includes(words) ? [words] : [])),
  ...(text.match(/\{\w+\}/g) ?? []),
];

describe('every page', () => {
  it.each(others)('is in %s for browsers that request that language', async (language) => {
    const kit = await operatorsKit();
    const key = await kit.key();
    const browser = await kit.signedIn(key);
    const endpoint = await kit.endpoint(key);
    const event = await kit.event(key);
    await kit.attempt({ error: 'timeout', httpStatus: null, response: null });
    await kit.admin.partners.create({ slug: 'kafe', name: 'Kafe' });
    const words = await allWords[language]();
    const asked = { 'accept-language': `${language}, en;q=0.5` };
    const operator = kit.browser('ana');
    const pages = [
      [kit.provider.browser(null), '/sandbox', words.signIn.promise] as const,
      ...partnerPages(event, endpoint).map(([path, said]) => [browser, path, said(words)] as const),
      ...operatorPages.map(([path, said]) => [operator, `/operators${path}`, said(words)] as const),
    ];
    for (const [visitor, path, said] of pages) {
      const { text } = await visitor.get(path, asked);
      const has = [text.includes(said), text.includes(`<html lang="${language}">`), leftOver(text)];
      expect.soft([path, ...has]).toEqual([path, true, true, []]);
    }
    expect((await browser.get('/sandbox')).text).toContain('<html lang="en">');
  });
});

describe('a notice', () => {
  it('that does not exist is not shown', async () => {
    const { browser } = await visited();
    for (const notice of ['nope', '__proto__', 'toString', '<b>']) {
      const { status, text } = await browser.get(`/sandbox?notice=${encodeURIComponent(notice)}`);
      expect(status).toBe(200);
      expect(text).not.toContain('class="notice');
    }
    expect((await act(browser, '/sandbox/trigger', { type: 'webhook.test' })).status).toBe(303);
  });
});
