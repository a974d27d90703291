import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fillText } from '@ostiary/web-kit';
import { expect, test } from 'vitest';
import { languages } from '../src/pages/words.ts';
import { openShop } from './support.ts';

const folder = join(import.meta.dirname, '../texts');

/** Lists all texts by path, with the arguments that they contain. */
function gapsOf(texts: object, path = ''): string[] {
  return Object.entries(texts).flatMap(([name, value]) => {
    if (typeof value !== 'string') return gapsOf(Object(value), `${path}${name}.`);
    expect(value.trim(), `${path}${name}`).not.toBe('');
    const names = Array.from(value.matchAll(/\{(\w+)[,}]/g), ([, one = '']) => one).sort();
    const shown = fillText('en', value, Object.fromEntries(names.map((one) => [one, `<${one}>`])));
    return [`${path}${name} ${(shown.match(/<\w+>/g) ?? []).sort()}`];
  });
}

const textsIn = (language: string): object =>
  JSON.parse(readFileSync(join(folder, `${language}.json`), 'utf8')) as object;

test.each(languages)('%s has every text of the shop, with the same placeholders', (language) => {
  expect(gapsOf(textsIn(language)).sort()).toEqual(gapsOf(textsIn('en')).sort());
  expect(readdirSync(folder)).toHaveLength(languages.length);
});

test.each([
  ['fr-HT, en;q=0.5', 'fr', 'Se connecter avec Ostiary'],
  ['ht', 'ht', 'Konekte ak Ostiary'],
  ['es-DO', 'es', 'Iniciar sesión con Ostiary'],
  ['de, pt-BR;q=0.8', 'pt', 'Entrar com Ostiary'],
  ['de', 'en', 'Sign in with Ostiary'],
])('the shop answers Accept-Language %j in %s', async (accepted, language, text) => {
  const { config } = await openShop();
  const { url } = config;
  const headers = { 'Accept-Language': accepted };
  const html = await (await fetch(url, { headers })).text();
  expect(html).toContain(`<html lang="${language}">`);
  expect(html).toContain(text);
  const missing = await (await fetch(`${url}/nothing`, { headers })).text();
  expect(missing).toContain(`<html lang="${language}">`);
});
