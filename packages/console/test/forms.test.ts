import { PartnerError } from '@ostiary/core/console';
import { html, render } from '@ostiary/core/pages';
import { describe, expect, it } from 'vitest';
import { fragileStorage } from '../../core/test/support/fragile-storage.ts';
import { formOf, noProblems, problemsOf } from '../src/forms.ts';
import { voiceOf } from '../src/words.ts';
import { act, visited } from './console-kit.ts';

const refusal = (...paths: string[]) =>
  new PartnerError('invalid_request', { details: paths.map((path) => ({ path, message: `about ${path}` })) });

const voice = await voiceOf('en');

const problemsIn = (error: unknown, ...given: [readonly string[], string?]) =>
  Object.fromEntries(problemsOf(voice, error, ...given));

describe('a refusal by the API', () => {
  it('is shown at the field of the refused member, at any depth', () => {
    expect(problemsIn(refusal('url', 'events.0', 'events', 'urls', ''), ['url', 'events'])).toEqual({
      url: ['about url'],
      events: ['events.0: about events.0', 'about events'],
      '': ['urls: about urls', 'about '],
    });
  });

  it('is shown at the only field of a form, also without details', () => {
    expect(problemsIn(refusal('other'), ['data'], 'data')).toEqual({ data: ['other: about other'] });
    const whole = new PartnerError('invalid_request', { description: 'The body is not JSON.' });
    expect(problemsIn(whole, ['data'], 'data')).toEqual({ data: ['The body is not JSON.'] });
    expect(problemsIn(whole, ['data'])).toEqual({ '': ['The body is not JSON.'] });
  });

  it('does not include other failures', () => {
    for (const error of [new PartnerError('not_found'), new TypeError('a defect'), null])
      expect(() => problemsOf(voice, error, ['url'])).toThrow(error instanceof Error ? error : /./);
  });
});

describe('a form', () => {
  const labels = { one: 'One', two: 'Two' };
  const field = (problems: Parameters<typeof formOf>[1], name: 'one' | 'two' = 'one') =>
    render(formOf(labels, problems, 'Refused.').field({ name, tag: html`<input`, hint: 'A hint.' }));

  it('without problems has no summary, and its fields are described by their hints', () => {
    expect(formOf(labels, noProblems, 'Refused.')).toMatchObject({ status: 200, summary: null });
    expect(field(noProblems)).toContain('<input id="one" name="one" aria-describedby="one-hint">');
  });

  it('shows every problem of a field, escaped', () => {
    const text = field(new Map([['one', ['<b>1</b>\u202e', html`<i>2</i>`]]]));
    expect(text).toContain('aria-invalid="true" aria-describedby="one-wrong one-hint" autofocus>');
    expect(text).toMatch(/<p><bdi>&lt;b&gt;1&lt;\/b&gt;\ufffd<\/bdi><\/p><p><i>2<\/i><\/p>/);
  });

  it('focuses the first wrong field of the page, in any order of the refusals', () => {
    const problems = new Map([
      ['two', ['b']],
      ['one', ['a']],
    ]);
    expect([
      field(problems, 'one').includes('autofocus'),
      field(problems, 'two').includes('autofocus'),
    ]).toEqual([true, false]);
    const { summary, status } = formOf(labels, problems, 'Refused.');
    expect(status).toBe(400);
    expect(summary === null ? '' : render(summary)).toMatch(/role="alert".*Refused\..*#one.*a.*#two.*b/s);
  });
});

it('the pages of an endpoint make the same storage calls for any number of endpoints', async () => {
  const fragile = fragileStorage();
  const { kit, key, browser } = await visited({}, fragile.storage);
  const id = await kit.endpoint(key);
  const url = 'https://receiver.example/hook';
  const ask = async (): Promise<string[]> => {
    fragile.forget();
    for (const page of ['', '/edit', '/secret']) await browser.get(`/sandbox/endpoints/${id}${page}`);
    await act(browser, `/sandbox/endpoints/${id}/edit`, { url });
    await act(browser, '/sandbox/endpoints', { url, 'type *': 'on' });
    return [...fragile.calls];
  };
  const few = await ask();
  for (let more = 0; more < 20; more += 1) await kit.endpoint(key, more % 2 === 0 ? '/hook' : `/${more}`);
  expect(few.length).toBeGreaterThan(15);
  expect(await ask()).toEqual(few);
});
