import { expect, it } from 'vitest';
import { openConsent } from '../support/consent-form.ts';
import { ana } from '../support/directory.ts';
import { ofBytes, png } from '../support/png.ts';
import { startProvider } from '../support/running.ts';

const provider = await startProvider();
const { clients } = provider.ostiary.admin;

it('the logo of an app is shown on the pages, from this origin, and cached for as long as it is the same', async () => {
  const client = await provider.client();
  const before = await openConsent(provider, client);
  expect((await before.browser.get(before.address)).text).not.toContain('<img');
  await clients.setLogo(client.id, png(64));
  const { text } = await before.browser.get(before.address);
  const [, address = ''] = /<img class="monogram" src="([^"]+)" alt="">/.exec(text) ?? [];
  expect(address).toMatch(new RegExp(`^${provider.origin}/oauth/client-logo/${client.id}\\?v=[\\w-]{43}$`));
  await before.finish();
  expect((await before.browser.get('/account/apps')).text).toContain(`src="${address}"`);
  expect((await provider.ostiary.consents.list(ana.sub)).map(({ logoUrl }) => logoUrl)).toContain(address);

  const answer = await fetch(address);
  expect(Buffer.from(await answer.arrayBuffer())).toEqual(png(64));
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    ...{ 'content-type': 'image/png', 'x-content-type-options': 'nosniff' },
    'cache-control': 'public, max-age=31536000, immutable',
    'content-security-policy': "default-src 'none'",
    // Other sites cannot use the logo to find out which apps exist.
    'cross-origin-resource-policy': 'same-origin',
  });
  const second = await clients.setLogo(client.id, png(32));
  expect(address).not.toContain(second.logo ?? '');
  await clients.setLogo(client.id, null);
  expect((await fetch(address)).status).toBe(404);
  expect((await provider.request('/oauth/client-logo/nobody')).status).toBe(404);
});

it.each([
  ['the smallest', png(32)],
  ['the largest', png(1024)],
  ['the longest', ofBytes(65_536)],
])('%s that may be is a logo', async (_what, bytes) => {
  const client = await provider.client();
  expect((await clients.setLogo(client.id, bytes)).logo).toMatch(/^[\w-]{43}$/);
});

it.each([
  ['an SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), 'is no PNG'],
  ['a JPEG', Buffer.from('ffd8ffe000104a46', 'hex'), 'is no PNG'],
  ['nothing', Buffer.alloc(0), 'is no PNG'],
  ['a wide one', png(64, 32), 'has to be square .64 × 32.$'],
  ['a high one', png(32, 64), 'has to be square .32 × 64.$'],
  ['one that is a pixel too small', png(31), '32 to 1024 pixels on a side .31.$'],
  ['one that is a pixel too large', png(1025), '32 to 1024 pixels on a side .1025.$'],
  ['one that is a byte too long', ofBytes(65_537), '65536 bytes at most'],
  ['one that ends early', png(64).subarray(0, -4), 'ends early'],
  ['one with a page after it', Buffer.concat([png(64), Buffer.from('<script>')]), 'has more after its end'],
  ['a damaged one', Buffer.from(png(64)).fill(1, 40, 44), 'damaged|ends early'],
  ['text', 'https://app.example/logo.png' as never, 'has to be bytes'],
])('%s is refused as a logo', async (_what, bytes, problem) => {
  const client = await provider.client();
  await expect(clients.setLogo(client.id, bytes)).rejects.toThrow(new RegExp(`^logo: .*(${problem})`));
  expect((await clients.get(client.id))?.logo ?? null).toBeNull();
  await expect(clients.setLogo('nobody', png(64))).rejects.toMatchObject({ code: 'client_not_found' });
});
