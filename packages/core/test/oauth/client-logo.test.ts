import { crc32, deflateSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { openConsent } from '../support/consent-form.ts';
import { ana } from '../support/directory.ts';
import { startProvider } from '../support/running.ts';

function chunk(name: string, data: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(name, 'latin1'), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}

/** A grey picture. */
function png(width: number, height = width, filler = 0): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = 8;
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', header),
    ...(filler > 0 ? [chunk('tEXt', Buffer.alloc(filler, 'a'))] : []),
    chunk('IDAT', deflateSync(Buffer.alloc((width + 1) * height))),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

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
  });
  const second = await clients.setLogo(client.id, png(32));
  expect(address).not.toContain(second.logo ?? '');
  await clients.setLogo(client.id, null);
  expect((await fetch(address)).status).toBe(404);
  expect((await provider.request('/oauth/client-logo/nobody')).status).toBe(404);
});

it.each([
  ['an SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), 'is no PNG'],
  ['a JPEG', Buffer.from('ffd8ffe000104a46', 'hex'), 'is no PNG'],
  ['nothing', Buffer.alloc(0), 'is no PNG'],
  ['one that is not square', png(64, 32), 'has to be square, and is 64 × 32'],
  ['a tiny one', png(16), '32 to 1024 pixels'],
  ['a huge one', png(2048), '32 to 1024 pixels'],
  ['a long one', png(64, 64, 70_000), '65536 bytes at most'],
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
