import { memoryStorage } from '@ostiary/testing/memory';
import { expect, it } from 'vitest';
import type { Storage } from '../../../src/storage.ts';
import { openConsent } from '../../support/consent-form.ts';
import { ben } from '../../support/directory.ts';
import { storageWith } from '../../support/fragile-storage.ts';
import { startProvider } from '../../support/running.ts';

const provider = await startProvider();

it('the way back to the app is answered again for a minute, with the same code', async () => {
  const page = await openConsent(provider, await provider.client());
  const { location } = await page.finish();
  provider.clock.advance(59_000);
  expect((await page.browser.get(page.resume)).location).toBe(location);
  provider.clock.advance(1_000);
  expect((await page.browser.get(page.resume)).outcome).toBe('400 invalid_request');
});

it('another user, and another browser, get no such answer', async () => {
  const page = await openConsent(provider, await provider.client());
  await page.finish();
  expect((await provider.browser().get(page.resume)).outcome).toBe('400 invalid_request');
  provider.signIn(page.browser, ben.sub);
  expect((await page.browser.get(page.resume)).outcome).toBe('400 invalid_request');
});

it('an answer is stored encrypted, and a failure to store it is only logged', async () => {
  const storage = memoryStorage();
  const stored: string[] = [];
  const save: Storage['interactionAnswers']['save'] = async (_id, payload) => {
    stored.push(JSON.stringify(payload));
    throw new Error('the disk is full');
  };
  const own = await startProvider({ storage: storageWith(storage, 'interactionAnswers', { save }) });
  const page = await openConsent(own, await own.client());
  const { callback, outcome } = await page.finish();
  expect(outcome).toBe('303 code');
  expect(stored).toHaveLength(1);
  expect(stored.join()).not.toContain(callback.get('code'));
  expect(own.logged.map(({ message }) => message)).toContain(
    'the response to an authorization request was not stored for a second click',
  );
});
