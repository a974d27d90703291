import { memoryStorage } from '@ostiary/testing/memory';
import { expect, it } from 'vitest';
import { act, followed, operatorsKit, submit, target, visited } from './console-kit.ts';

const shown = (text: string) =>
  [...text.matchAll(/<code data-once>([^<]+)<\/code>/g)].map(([, secret]) => secret);
const gone = 'shown already, or its ten minutes are over';

it('shows operators a new key, a rolled one and a client secret once, behind a redirect', async () => {
  const kit = await operatorsKit();
  const [ana, bob] = [kit.browser('ana'), kit.browser('bob')];
  await submit(ana, '/partners', { act: 'create', slug: 'kafe', name: 'Kafe' });
  const issue = { act: 'issue', mode: 'test', 'scope webhooks': 'on' };
  const acts = [
    ['/partners/kafe/keys', issue, 2],
    [
      '/new-client',
      {
        act: 'create',
        name: 'App',
        redirectUris: 'https://app.example/',
        'scope openid': 'on',
        clientId: 'app',
      },
      2,
    ],
    ['/clients/app', { act: 'rotate', overlapSeconds: '0' }, 2],
  ] as const;
  for (const [page, form, count] of acts) {
    const before = await kit.acts();
    const answer = await submit(ana, page, form);
    expect([page, answer.status]).toEqual([page, 303]);
    expect(answer.text).toBe('');
    const address = target(answer) ?? '';
    expect(address).toMatch(/\?once=[\w-]{43}$/);
    // Neither a view by another user nor a HEAD request uses the ticket up.
    const other = await bob.get(address);
    expect(shown(other.text)).toEqual([]);
    expect(other.text).toContain(gone);
    await ana.head(address);
    const first = await ana.get(address);
    expect(shown(first.text)).toHaveLength(count);
    for (const secret of shown(first.text)) expect(secret).toMatch(/^[\w-]{3,}$/);
    expect(first.text.match(/<button [^>]*data-copy/g)).toHaveLength(count);
    const [script = ''] = /<script src="([^"]+)"/.exec(first.text)?.slice(1) ?? [];
    expect((await ana.get(new URL(script).pathname)).text).toContain('data-copy');
    const second = await ana.get(address);
    expect(shown(second.text)).toEqual([]);
    expect(second.text).toContain(gone);
    expect(await kit.acts()).toBe(before + 1);
  }
  const [key] = await kit.admin.apiKeys.list('kafe');
  const rolled = await followed(ana, `/partners/kafe/keys/${key?.id}`, { act: 'roll', overlapSeconds: '60' });
  expect(shown(rolled.text)[0]).toMatch(/^svc_test_/);
});

it('keeps a new secret sealed in the storage, so that another process can show it, for ten minutes', async () => {
  const storage = memoryStorage();
  const saved: unknown[] = [];
  const { save } = storage.sandbox;
  Object.assign(storage.sandbox, {
    save: async (...given: Parameters<typeof save>) => {
      saved.push(given[1]);
      return save(...given);
    },
  });
  const kit = await operatorsKit({}, storage);
  const ana = kit.browser('ana');
  await submit(ana, '/partners', { act: 'create', slug: 'kafe', name: 'Kafe' });
  const issue = { act: 'issue', mode: 'test', 'scope webhooks': 'on' };
  const first = target(await submit(ana, '/partners/kafe/keys', issue)) ?? '';
  const [key = ''] = shown((await ana.get(first)).text);
  expect(saved).toEqual([{ sealed: expect.stringMatching(/^v1\./) }]);
  expect(JSON.stringify(saved)).not.toContain(key);
  const late = target(await submit(ana, '/partners/kafe/keys', issue)) ?? '';
  kit.provider.clock.advance(10 * 60_000);
  expect((await ana.get(late)).text).toContain(gone);
});

it('shows one of two simultaneous views the secret', async () => {
  const kit = await operatorsKit();
  const ana = kit.browser('ana');
  await submit(ana, '/partners', { act: 'create', slug: 'kafe', name: 'Kafe' });
  const issue = { act: 'issue', mode: 'test', 'scope webhooks': 'on' };
  const address = target(await submit(ana, '/partners/kafe/keys', issue)) ?? '';
  const views = await Promise.all(Array.from({ length: 8 }, () => ana.get(address)));
  expect(views.filter(({ text }) => shown(text).length > 0)).toHaveLength(1);
});

it('shows a partner the secret of a new endpoint, and a generated one, once and in its session', async () => {
  const { kit, key, browser } = await visited();
  const other = await kit.signedIn(key);
  const form = { url: 'https://receiver.example/new', 'type *': 'on', secret: '' };
  const added = await act(browser, '/sandbox/endpoints', form);
  expect(added.status).toBe(303);
  const address = target(added) ?? '';
  expect(shown((await other.get(address)).text)).toEqual([]);
  await browser.head(address);
  const [secret = ''] = shown((await browser.get(address)).text);
  expect(secret).toMatch(/^whsec_[0-9a-f]{64}$/);
  expect((await browser.get(address)).text).toContain(gone);

  const page = new URL(address, 'http://host').pathname;
  const generated = target(await act(browser, page, { step: 'generate' })) ?? '';
  const offered = (await browser.get(generated)).text;
  const [fresh = ''] = shown(offered);
  expect(offered).toContain(`name="secret" value="${fresh}"`);
  expect(fresh).not.toBe(secret);
  const again = (await browser.get(generated)).text;
  expect(again).toContain(gone);
  expect(again).not.toContain(fresh);
  const used = await act(browser, page, { step: 'use', secret: fresh });
  expect(target(used)).toContain('notice=secret_changed');
});
