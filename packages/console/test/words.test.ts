import { html, render } from '@ostiary/core/console';
import { describe, expect, it } from 'vitest';
import { failureKind } from '../src/delivery.ts';
import { stateWords } from '../src/parts.ts';
import { allWords } from '../src/words/words.ts';
import { act, visited } from './console-kit.ts';

/** All texts with their path; functions are called with something that can be found again. */
function leaves(value: unknown, path: string): { path: string; words: string }[] {
  if (typeof value === 'string') return [{ path, words: value }];
  if (typeof value === 'function') {
    const words: unknown = value('NAME', 'NAME');
    const text = typeof words === 'string' ? words : render(html`${words as ReturnType<typeof html>}`);
    return [{ path, words: text }];
  }
  return Object.entries(value ?? {}).flatMap(([key, inner]) => leaves(inner, `${path}.${key}`));
}

const english = leaves(allWords.en, 'words');
const french = leaves(allWords.fr, 'words');

describe('the words of the console', () => {
  it('are the same set in both languages, and none is empty or left untranslated', () => {
    expect(english.length).toBeGreaterThan(120);
    expect(french.map(({ path }) => path)).toEqual(english.map(({ path }) => path));
    for (const [index, { path, words }] of french.entries()) {
      expect(words.trim(), path).not.toBe('');
      expect(words, path).not.toBe(english[index]?.words);
    }
  });

  it('name whatever they speak of, in both languages', () => {
    const named = (texts: typeof english): string[] =>
      texts.flatMap(({ path, words }) => (/NAME/.test(words) ? [path] : []));
    expect(named(french)).toEqual(named(english));
  });

  it('keep French punctuation on its line', () => {
    for (const { path, words } of french) {
      const text = words.replace(/<[^>]*>/g, '');
      expect(text, path).not.toMatch(/ [:;?!»]|« |[^\u00a0][:;?!»]/);
      expect(text, path).not.toContain("'");
    }
  });

  it('count states, and leave the number away where there is one delivery', () => {
    expect(stateWords([], allWords.en)).toEqual([['none', 'No endpoint']]);
    expect(stateWords(['dropped'], allWords.en)).toEqual([['dropped', 'Dropped']]);
    const words = stateWords(['delivered', 'pending', 'delivered'], allWords.fr).map(([, text]) => text);
    expect(words).toEqual(['En attente', 'Livré × 2']);
  });
});

describe('why an attempt failed', () => {
  it.each([
    ...Object.keys(allWords.en.failures)
      .filter((kind) => !/^(status_|unknown$)/.test(kind))
      .map((kind) => [kind, null, kind] as const),
    ...[400, 199].map((status) => ['status', status, 'status_other'] as const),
    ...[401, 403].map((status) => ['status', status, 'status_denied'] as const),
    ...[404, 405, 410].map((status) => ['status', status, 'status_missing'] as const),
    ['status', 429, 'status_busy'],
    ...[500, 503].map((status) => ['status', status, 'status_server'] as const),
    ['a class of tomorrow', null, 'unknown'],
    ['constructor', null, 'unknown'],
  ] as const)('%s with status %s is explained as %s', (error, httpStatus, kind) => {
    expect(failureKind({ error, httpStatus }, allWords.en)).toBe(kind);
    const failures: Record<string, { readonly advice: string }> = allWords.en.failures;
    expect(failures[kind]?.advice.length).toBeGreaterThan(20);
  });
});

describe('in French', () => {
  it('every page of the console speaks it, to whoever asks for it', async () => {
    const { kit, key, browser } = await visited();
    const endpoint = await kit.endpoint(key);
    const event = await kit.event(key);
    await kit.attempt({ error: 'timeout', httpStatus: null, response: null });
    const fr = { 'accept-language': 'fr-HT, en;q=0.5' };
    expect((await kit.provider.browser(null).get('/sandbox', fr)).text).toContain('Clé d’API de test');
    for (const [path, words] of [
      ['/sandbox', 'Déclencher un événement de test'],
      [`/sandbox/events/${event}`, 'Pas de réponse en 10 secondes.'],
      [`/sandbox/endpoints/${endpoint}`, 'Tentative 1 sur 5'],
      ['/sandbox/endpoints', 'Secret du webhook'],
      [`/sandbox/endpoints/${endpoint}/edit`, 'Modifier un point de terminaison'],
      [`/sandbox/endpoints/${endpoint}/secret`, 'Générer un secret'],
      [`/sandbox/endpoints/${endpoint}?queued=1000`, 'récupérez encore une fois'],
      ['/sandbox', 'Premiers pas'],
      ['/sandbox/tools', 'Contrôle de la signature'],
      ['/sandbox/tools?notice=kyc_reset', 'est de nouveau comme au début'],
      ['/sandbox/trigger?type=webhook.test', 'Un objet JSON conforme au type.'],
      ['/sandbox?notice=endpoint_added', 'est enregistré'],
    ] as const) {
      const { text } = await browser.get(path, fr);
      expect
        .soft([path, text.includes(words), text.includes('<html lang="fr">')])
        .toEqual([path, true, true]);
      const leftOver = english.filter(({ words }) => words.length > 25 && text.includes(words));
      expect.soft([path, leftOver]).toEqual([path, []]);
    }
    const { text } = await browser.get('/sandbox');
    expect(text).toContain('<html lang="en">');
  });

  it('notices that do not exist are not shown', async () => {
    const { browser } = await visited();
    for (const notice of ['nope', '__proto__', 'toString', '<b>']) {
      const { status, text } = await browser.get(`/sandbox?notice=${encodeURIComponent(notice)}`);
      expect(status).toBe(200);
      expect(text).not.toContain('class="notice');
    }
    expect((await act(browser, '/sandbox/trigger', { type: 'webhook.test' })).status).toBe(303);
  });
});
