import { randomBytes } from 'node:crypto';
import { memoryStorage } from '@ostiary/testing/memory';
import { expect, it } from 'vitest';
import { TestClock } from '../../core/test/support/provider.ts';
import { sharingCounts } from '../../core/test/support/shared-counts.ts';
import { sink } from '../../core/test/webhooks/support/sink.ts';
import { consoleKit, csrfOf } from './console-kit.ts';

it('a partner gets six signature checks a minute, over all its keys and all processes', async () => {
  const [storage, clock] = [sharingCounts(memoryStorage()), new TestClock()];
  const options = {
    clock,
    sealingKeys: [randomBytes(32)],
    webhooks: { allowPrivateTargets: true },
  };
  const one = await consoleKit(options, storage);
  const two = await consoleKit(options, storage);
  const endpoint = await sink();
  const key = await one.key();
  const sibling = await one.provider.key({ mode: 'test', partner: key.partner });
  const settings = { url: endpoint.url, secret: 'whsec_0123456789abcdef', events: ['*'] };
  const { id } = (await one.provider.partnerCall(key, 'POST /v1/partner/webhooks', settings)).json();
  const browsers = [
    await one.signedIn(key),
    await one.signedIn(sibling),
    await two.signedIn(key),
    await two.signedIn(sibling),
  ];
  const forms = await Promise.all(
    browsers.map(async (browser) => {
      const csrf = csrfOf((await browser.get('/sandbox/tools')).text);
      return () => browser.post('/sandbox/tools/signature', { endpoint: String(id), csrf });
    }),
  );
  const answers = await Promise.all(forms.flatMap((check) => Array.from({ length: 10 }, check)));
  const times = (status: number) => answers.filter((answer) => answer.status === status).length;
  expect([times(200), times(429), endpoint.received.length]).toEqual([6, 34, 12]);
});

it('sessions of one partner leave enough room for users who sign in', async () => {
  const kit = await consoleKit({ trustedProxies: ['127.0.0.1'], limits: { unfinishedInteractions: 200 } });
  const { provider } = kit;
  const client = await provider.client();
  const { key } = await kit.key();
  const browser = provider.browser(null);
  const csrf = csrfOf((await browser.get('/sandbox')).text);
  const signIn = (_: unknown, from: number) =>
    browser.post('/sandbox/sign-in', { key, csrf }, { 'x-forwarded-for': `198.51.100.${from}` });
  const answers = await Promise.all(Array.from({ length: 250 }, signIn));
  expect(answers.filter(({ status }) => status === 303)).toHaveLength(120);
  provider.clock.advance(1_000);
  expect((await provider.browser(null).get(provider.authorizeUrl(client))).status).toBe(303);
});
