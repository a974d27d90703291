import { describe, expect, it } from 'vitest';
import { ofBytes, png } from '../../core/test/support/png.ts';
import { csrfOf, operatorsKit, target } from './console-kit.ts';
import { markedFields } from './form-checks.ts';

const path = '/operators/clients/app';

/** Opens the page of a client as an operator. */
async function opened() {
  const kit = await operatorsKit();
  await kit.provider.client({ clientId: 'app' });
  const browser = kit.browser('ana');
  const csrf = csrfOf((await browser.get(path)).text);
  const formOf = (
    file: Uint8Array<ArrayBuffer> | null,
    fields: Readonly<Record<string, string>> = { csrf, act: 'set_logo' },
  ) => {
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) form.append(name, value);
    if (file !== null) form.append('logo', new Blob([file], { type: 'image/png' }), 'logo.png');
    return form;
  };
  const logo = async () => (await kit.admin.clients.get('app'))?.logo ?? null;
  return { kit, browser, csrf, formOf, logo };
}

describe('the logo of an app, on its page for operators', () => {
  it('is uploaded, shown to users, logged for audits, and removed', async () => {
    const { kit, browser, csrf, formOf, logo } = await opened();
    // The largest permitted logo.
    const largest = ofBytes(64 * 1024);
    const sent = await browser.post(path, formOf(new Uint8Array(largest)));
    expect(target(sent)).toBe(`${path}?notice=saved`);
    expect(await kit.lastAct()).toMatchObject({
      actor: 'ana',
      action: 'client.set_logo',
      target: 'client:app',
    });
    const served = await fetch(`${kit.provider.origin}/oauth/client-logo/app?v=${await logo()}`);
    expect(Buffer.from(await served.arrayBuffer())).toEqual(largest);
    const page = await browser.get(path);
    expect(page.text).toContain('Take the logo away');
    expect(target(await browser.post(path, { csrf, act: 'remove_logo' }))).toBe(`${path}?notice=saved`);
    expect(await logo()).toBeNull();
    expect((await browser.get(path)).text).not.toContain('Take the logo away');
  });

  it('is refused with a message at its field if it is not a logo', async () => {
    const { kit, browser, csrf, formOf, logo } = await opened();
    const acts = await kit.acts();
    const cases: [string, FormData | Record<string, string>, string][] = [
      ['nothing chosen', formOf(new Uint8Array()), 'is empty'],
      ['no file', formOf(null), 'is empty'],
      ['as text', { csrf, act: 'set_logo', logo: 'a' }, 'is empty'],
      ['not square', formOf(new Uint8Array(png(64, 32))), 'has to be square'],
      ['no picture', formOf(new TextEncoder().encode('<svg onload="alert(1)">')), 'is no PNG'],
      ['a byte too many', formOf(new Uint8Array(ofBytes(64 * 1024 + 1))), 'At most 65,536 bytes'],
    ];
    for (const [label, form, words] of cases) {
      const { status, text } = await browser.post(path, form);
      expect.soft([label, status, markedFields(text)]).toEqual([label, 400, ['logo']]);
      expect
        .soft([label, /id="logo-wrong">.*?<\/div>/s.exec(text)?.[0]])
        .toEqual([label, expect.stringContaining(words)]);
      // Only the refused action is unfolded.
      expect.soft([label, text.match(/<details open>/g)?.length]).toEqual([label, 1]);
    }
    expect([await logo(), await kit.acts()]).toEqual([null, acts]);
  });

  it('is refused in a forged, malformed or too long form', async () => {
    const { kit, browser, csrf, formOf, logo } = await opened();
    const acts = await kit.acts();
    const picture = new Uint8Array(png(64));
    const twice = formOf(picture);
    twice.append('logo', new Blob([picture]), 'other.png');
    const said = formOf(picture);
    said.append('act', 'disable');
    const raw = (type: string, body: string) =>
      fetch(kit.provider.origin + path, {
        method: 'POST',
        headers: { 'content-type': type, origin: browser.origin, cookie: browser.cookieHeader(path) },
        body,
        redirect: 'manual',
      });
    const statuses = [
      (await browser.post(path, formOf(picture, { act: 'set_logo' }))).status,
      (await browser.post(path, formOf(picture, { act: 'set_logo', csrf: `${csrf}x` }))).status,
      (await browser.post(path, formOf(picture), { origin: 'https://evil.example' })).status,
      (await browser.post(path, twice)).status,
      (await browser.post(path, said)).status,
      (await browser.post(path, formOf(new Uint8Array(96 * 1024)))).status,
      (await raw('multipart/form-data; boundary=x', '--y\r\n')).status,
      (await raw('multipart/form-data', 'a=b')).status,
      (await raw('multipart/mixed; boundary=x', '--x--')).status,
    ];
    expect(statuses).toEqual([403, 403, 403, 400, 400, 413, 400, 415, 415]);
    expect(await kit.provider.browser(null).post(path, formOf(picture))).toMatchObject({ status: 403 });
    expect([await logo(), await kit.acts()]).toEqual([null, acts]);
  });
});
