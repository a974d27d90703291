import { setTimeout as delay } from 'node:timers/promises';
import type { Browser } from 'playwright-core';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { TestProvider } from '../../../packages/core/test/support/provider.ts';
import { serve } from '../../../packages/core/test/support/running.ts';
import { run } from '../../../packages/listen/src/run.ts';
import { lookSmallAndWide } from '../../support/browser/page-checks.ts';
import { newProfile } from '../../support/browser/profile.ts';
import { careful, secret, signInWith, startConsole } from './console-pages.ts';

/** Runs a partner's steps to the first webhook, and returns the time that they took, in seconds. */
async function timed(name: string, steps: () => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  await steps();
  const seconds = (performance.now() - startedAt) / 1000;
  console.log(`first verified webhook ${name}: ${seconds.toFixed(1)} s`);
  return seconds;
}

describe('the first verified webhook of a new partner', () => {
  let provider: TestProvider;
  let browser: Browser;
  let urlOf: (path: string) => string;

  beforeAll(async () => {
    ({ provider, browser, urlOf } = await startConsole(careful));
    return () => browser.close();
  });

  it('takes less than a minute with an inbox, and the page shows it without a reload', async () => {
    const { page, complaints } = await newProfile(browser);
    const { key } = await provider.key({ mode: 'test' });
    const seconds = await timed('with an inbox', async () => {
      await signInWith(page, provider.origin, key);
      await page.getByRole('link', { name: 'Add an endpoint' }).click();
      await page.getByRole('button', { name: 'Use an inbox here' }).click();
      await page.getByText('Nothing has arrived yet').first().waitFor();
      await page.getByRole('button', { name: 'Send a test event' }).click();
      await page.getByText('Signature valid').waitFor();
    });
    expect(seconds).toBeLessThan(60);
    await page.getByRole('link', { name: /webhook\.test/ }).click();
    await page.getByText('X-SVC-Signature').waitFor();
    await lookSmallAndWide(page, 'sandbox-inbox-request');
    await page.getByRole('link', { name: 'Inbox' }).first().click();
    await page.getByLabel('Answer', { exact: true }).selectOption('inbox:500');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The endpoint is saved.').waitFor();
    await lookSmallAndWide(page, 'sandbox-inbox');
    await page.getByRole('link', { name: 'Test tools' }).first().click();
    await page.getByRole('link', { name: 'Sign-in button' }).click();
    await page.getByText('How to use them').waitFor();
    await lookSmallAndWide(page, 'sandbox-button');
    expect(complaints).toEqual([]);
  });

  it('ticks itself on the page that hands out the verifiers', async () => {
    const { page, complaints } = await newProfile(browser);
    const { key } = await provider.key({ mode: 'test' });
    await signInWith(page, provider.origin, key);
    await page.getByRole('link', { name: 'Add an endpoint' }).click();
    await page.getByLabel('URL').fill(urlOf('/careful'));
    await page.getByLabel('Webhook secret').fill(secret);
    await page.getByRole('button', { name: 'Add an endpoint' }).click();
    await page.getByText('Waiting for the first event').first().waitFor();
    await lookSmallAndWide(page);
    for (const [name, code] of [
      ['Python', 'hmac.compare_digest'],
      ['Rust', 'verify_slice'],
    ] as const) {
      await page.getByRole('link', { name, exact: true }).click();
      await page.getByText(code).waitFor();
    }
    await page.getByRole('button', { name: 'Send a test event' }).click();
    await page.getByText('Your server accepted an event.').first().waitFor();
    await page.locator('#arrival-state .tick.done').waitFor();
    await lookSmallAndWide(page, 'sandbox-receiver');
    expect(complaints).toEqual([]);
  });

  it('takes less than two minutes with listen and a server of its own', async () => {
    const { page } = await newProfile(browser);
    const { key } = await provider.key({ mode: 'test' });
    const stop = new AbortController();
    let output = '';
    const write = (text: string): void => {
      output += `${text}\n`;
    };
    const seconds = await timed('with listen', async () => {
      const server = await serve(careful);
      const to = `${server}/webhooks`;
      const args = ['--to', to, '--base-url', provider.origin, '--secret', secret];
      const environment = { OSTIARY_API_KEY: key };
      const running = run(args, { environment, write, complain: write, signal: stop.signal });
      onTestFinished(async () => {
        stop.abort();
        expect(await running).toBe(0);
      });
      await signInWith(page, provider.origin, key);
      while (!output.includes('Ready')) await delay(50);
      await page.getByLabel('Type', { exact: true }).selectOption('webhook.test');
      await page.getByRole('button', { name: 'Send' }).click();
      await page.getByText('Delivered').first().waitFor();
      expect(output).toMatch(/webhook\.test {2}evt_\w+ {2}-> {2}200/);
    });
    expect(seconds).toBeLessThan(120);
  });
});
