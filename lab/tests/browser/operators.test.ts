import { operatorsConsole } from '@ostiary/console';
import type { Browser } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { DocumentHost } from '../../../packages/core/test/support/document-host.ts';
import { manyRequests, TestRail } from '../../../packages/core/test/support/partner-api.ts';
import type { TestProvider } from '../../../packages/core/test/support/provider.ts';
import { startProvider } from '../../../packages/core/test/support/running.ts';
import { launchBrowser } from '../../support/browser/browser.ts';
import { lookSmallAndWide } from '../../support/browser/page-checks.ts';
import { newProfile } from '../../support/browser/profile.ts';

/** Names of the screenshots for the documentation, by page. */
const pictures = new Map([
  ['overview', 'operators'],
  ['keys', 'operators-keys'],
]);

describe('the pages for operators, in a real browser', () => {
  let provider: TestProvider;
  let browser: Browser;
  let address = '93.184.216.34';

  beforeAll(async () => {
    browser = await launchBrowser();
    provider = await startProvider({
      payments: new TestRail(),
      partnerLimits: manyRequests,
      // The single attempt fails, because the receiver's host name now resolves to an IP address that
      // deliveries may not use.
      webhooks: { retryDelaysSeconds: [], resolve: async () => [address] },
      operators: { authenticate: () => ({ name: 'ana@example.com' }), pages: operatorsConsole() },
      clientMetadataDocuments: { scopes: ['openid'], allowPrivateDocuments: true },
    });
    return () => browser.close();
  });

  it('are accessible, small and wide, and fit', async () => {
    const key = await provider.key({ mode: 'test', partner: await provider.partner('kafe'), name: 'Tests' });
    await provider.key({ mode: 'live', partner: 'kafe', name: 'The till at the market of Petion-Ville' });
    await provider.client({ clientId: 'app', name: 'Rara Market' });
    const documents = await DocumentHost.start();
    const described = documents.document(`/${'a-long-path/'.repeat(9)}client.json`);
    const redirectUri = 'http://127.0.0.1:40000/callback';
    await provider.tokens({ id: described, secret: null, redirectUri });
    const long = `https://receiver.example/${'a-long-path/'.repeat(12)}`;
    const given = { url: long, events: ['*'], secret: 'whsec_0123456789abcdef' };
    const { id } = (await provider.partnerCall(key, 'POST /v1/partner/webhooks', given)).json();
    address = '10.0.0.1';
    await provider.partnerCall(key, 'POST /v1/partner/sandbox/events', { type: 'webhook.test' });
    await provider.ostiary.worker.runDue();
    const { page, asked, complaints } = await newProfile(browser);
    const partner = '/partners/kafe';
    for (const [name, path] of [
      ['overview', ''],
      ['partners', '/partners'],
      ['partner', partner],
      ['keys', `${partner}/keys`],
      ['key', `${partner}/keys/${key.id}`],
      ['webhooks', `${partner}/webhooks?mode=test&status=every`],
      ['endpoint', `${partner}/webhooks/${id}?mode=test`],
      ['failing', '/failing?mode=test'],
      ['endpoints', '/endpoints?mode=test'],
      ['events', '/events?mode=test'],
      ['requests', '/requests?mode=test'],
      ['clients', '/clients'],
      ['new-client', '/new-client'],
      ['client', '/clients/app'],
      ['described clients', '/clients?documents=1'],
      ['described client', `/clients/${encodeURIComponent(described)}`],
      ['audit', '/audit'],
      ['signing-keys', '/signing-keys'],
      ['upkeep', '/upkeep'],
      ['users', '/users'],
      ['user', '/user?sub=u-1'],
    ] as const) {
      await page.goto(`${provider.origin}/operators${path}`);
      await page.locator('details').evaluateAll((all) => {
        for (const each of all) each.setAttribute('open', '');
      });
      // Only the frame has a script, for shortcuts of the keyboard.
      const scripts = await page
        .locator('script')
        .evaluateAll((all) => all.map((each) => each.getAttribute('src')));
      expect(scripts).toEqual([expect.stringContaining('/operators/script.js')]);
      await lookSmallAndWide(page, pictures.get(name));
    }
    await page.goto(`${provider.origin}/operators/partners`);
    await page.getByLabel('Slug').fill('NOT A SLUG');
    await page.getByRole('button', { name: 'Create a partner' }).click();
    await page.getByText('Nothing was changed.').waitFor();
    await lookSmallAndWide(page);
    await page.locator('#slug:focus').waitFor();
    expect([...asked]).toEqual([provider.origin]);
    expect(complaints.filter((each) => !each.includes('400'))).toEqual([]);
  }, 120_000);

  it('show a new key once, with a button that copies it', async () => {
    await provider.partner('lakay');
    const { page, context, complaints } = await newProfile(browser);
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.goto(`${provider.origin}/operators/partners/lakay/keys`);
    await page.getByLabel('webhooks').check();
    await page.getByRole('button', { name: 'Issue a key' }).click();
    const secret = page.getByText(/^svc_test_\w{30,}$/);
    await secret.waitFor();
    const key = await secret.textContent();
    await page.getByRole('button', { name: 'Copy API key' }).click();
    await page.getByText('Copied').first().waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(key);
    await lookSmallAndWide(page);
    await page.reload();
    await page.getByText('This was shown already').waitFor();
    await page.goBack();
    expect(await page.locator('[data-once]').count()).toBe(0);
    expect(await provider.ostiary.admin.apiKeys.list('lakay')).toHaveLength(1);
    expect(complaints).toEqual([]);
  }, 60_000);
});
