import { expect, it, vi } from 'vitest';
import { patient } from '../../../lab/support/patient.ts';
import { act, csrfOf, target, visited } from './console-kit.ts';
import { openStream } from './stream-kit.ts';

it('secrets and personal data of calls appear in no page, URL, stream or log line', async () => {
  const { kit, key, browser } = await visited();
  const { provider } = kit;
  const own = 'whsec_0badc0ffee0badc0ffee';
  // A text as long as a secret, because pages may repeat short words that are no event types.
  const canary = 'CANARY-0123456789-CANARY';
  const phone = '+50937001122';
  const canaries = [key.key, own, phone, canary];
  const call = (target: string, body?: unknown, headers = {}) =>
    provider.partnerCall(key, target, body, headers);
  const { id } = (
    await call('POST /v1/partner/webhooks', { url: 'https://receiver.example/', events: ['*'], secret: own })
  ).json();
  const passport = (await call('POST /v1/partner/sandbox/passports', {})).json();
  canaries.push(String(passport.token), String(passport.token).slice(-40));
  await call('POST /v1/partner/verify', { token: passport.token });
  await call('POST /v1/partner/verify', { token: [canary], [String(passport.token)]: 1, [key.key]: 1 });
  await call('POST /v1/partner/verify', `{"token":"${canary}"`);
  await call(`POST /v1/partner/verify?token=${canary}`, { tokens: canary });
  await call(`GET /v1/partner/users/phone/${encodeURIComponent(phone)}`);
  await call(`GET /v1/partner/users/${canary}`);
  await call(`PATCH /v1/partner/webhooks/${id}`, { secret: canary, events: [canary] });
  await call(`PATCH /v1/partner/webhooks/${canary}`, { url: `https://receiver.example/?${own}` });
  await call('POST /v1/partner/sandbox/events', {
    type: 'webhook.test',
    data: { message: `${key.key} ${own} ${passport.token}` },
  });
  await call('POST /v1/partner/payments', {
    ...{ amount: canary, currency: 'HTG', recipient: { phone, email: canary, name: canary } },
  });
  await call('GET /v1/partner/whoami', undefined, { 'x-canary': canary, 'user-agent': canary });

  const list = await vi.waitFor(async () => {
    const page = await browser.get('/sandbox/requests');
    expect(page.text.match(/<li id="/g)?.length).toBe(13);
    return page.text;
  }, patient);
  const ids = Array.from(list.matchAll(/<li id="([^"]+)"/g), ([, found = '']) => found);
  const shown = await Promise.all(
    ids.map(async (one) => (await browser.get(`/sandbox/requests/${one}`)).text),
  );
  const { next } = await openStream(browser, '/sandbox/requests');
  const lines = JSON.stringify(provider.logged);
  const everything = [list, ...shown, (await next())?.data ?? '', lines];

  // A generated secret is shown in one response, and nowhere later.
  const form = csrfOf((await browser.get('/sandbox/tools')).text);
  const minted = await browser.post('/sandbox/tools/passport', { csrf: form, kid: 'KID-TEST-APPROVED' });
  const [token = ''] = /eyJ[\w-]+\.[\w-]+\.[\w-]+/.exec(minted.text) ?? [];
  expect(token).not.toBe('');
  canaries.push(token);
  const changed = await act(browser, `/sandbox/endpoints/${id}/secret`, {
    step: 'use',
    secret: `${own}${canary}`,
  });
  everything.push(target(changed) ?? '');
  for (const page of ['', '/tools', '/requests', `/endpoints/${id}`, `/endpoints/${id}/secret`])
    everything.push((await browser.get(`/sandbox${page}`)).text);
  everything.push(JSON.stringify(provider.logged));
  for (const canary of canaries)
    expect
      .soft(
        everything.findIndex((text) => text.includes(canary)),
        canary,
      )
      .toBe(-1);
});
