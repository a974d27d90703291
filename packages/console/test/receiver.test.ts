import { expect, it } from 'vitest';
import english from '../languages/en.json' with { type: 'json' };
import { visited } from './console-kit.ts';

it('explains the last failed attempt of the newest delivery', async () => {
  const { kit, key, browser } = await visited();
  const endpoint = await kit.endpoint(key);
  await kit.event(key);
  await kit.attempt({ error: 'connection_refused', httpStatus: null });
  kit.provider.clock.advance(60_000);
  await kit.attempt({ error: 'timeout', httpStatus: null });
  const { text } = await browser.get(`/sandbox/endpoints/${endpoint}/receiver`);
  const { connection_refused: first, timeout: last } = english.failures;
  expect([text.includes(first.advice), text.includes(last.advice)]).toEqual([false, true]);
});
