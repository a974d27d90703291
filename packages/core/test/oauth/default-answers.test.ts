import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { everyPage } from '../pages/views.ts';
import type { Answer } from '../support/browser.ts';
import { openConsent } from '../support/consent-form.ts';
import { partnerProvider } from '../support/partner-api.ts';

// Compares the responses of a host without options with recorded ones, byte by byte except for random parts:
// features that are off must change none of them.

/** Matches the names of pages that a feature added later. */
const later = /logout|logo|pages of the app/;

/** Patterns of texts that differ from run to run, with the placeholders that replace them. */
const random: readonly (readonly [RegExp, string])[] = [
  [/127\.0\.0\.1(:|%3A)\d+/g, 'HOST'],
  [/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'UUID'],
  [/eyJ[\w-]+\.[\w-]+\.[\w-]+/g, 'JWT'],
  [/svc_(at|client|secret|live|test)_[\w-]+/g, 'SVC_$1'],
  [/(interaction|authorize)(\/|%2F)[\w-]{43}/g, '$1$2ID'],
  [/(code|svc_\w+)=[\w-]{43}/g, '$1=ID'],
  [/\.sig=[\w-]+/g, '.sig=ID'],
  [/"(n|kid|x|y)":"[^"]+"/g, '"$1":"KEY"'],
  [/value="[^"]*"/g, 'value=""'],
  [/(tr|we|evt|dl|key)_[0-9a-f]+/g, '$1_ID'],
  [/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME'],
  [/expires=[^;]*/g, 'expires=TIME'],
  [/began(=|%3D)\d+/g, 'began$1TIME'],
  [/<time[^<]*</g, '<time<'],
  [/partner-[0-9a-f]{12}/g, 'PARTNER'],
  [/undo(=|%3D)[\w.%-]+/g, 'undo$1UNDO'],
];

const steady = (text: string): string =>
  random.reduce((given, [pattern, name]) => given.replace(pattern, name), text);

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

const ofTheMoment = new Set(['date', 'content-length', 'etag', 'x-ratelimit-reset', 'retry-after']);

/** Formats a response as one line; long bodies by their digest. */
function lineOf({ status, headers, text }: Answer): string {
  const told = [...headers].filter(([name]) => !ofTheMoment.has(name));
  const body = steady(text);
  return [
    status,
    ...told.map(([name, value]) => `${name}: ${steady(value)}`).toSorted(),
    body.length > 400 ? `SHA-256 ${sha256(body)}` : body,
  ].join(' | ');
}

it('without options every page and answer is as it was recorded', async () => {
  const { provider } = await partnerProvider();
  const lines: string[] = [];
  const note = (what: string, answer: Answer): void => void lines.push(`${what}: ${lineOf(answer)}`);
  for (const [name, page] of Object.entries(everyPage)) {
    for (const language of ['en', 'fr'])
      if (!later.test(name)) lines.push(`page, ${name}, ${language}: SHA-256 ${sha256(page(language).html)}`);
  }
  const html = { headers: { accept: 'text/html' } };
  const documents = ['openid-configuration', 'oauth-authorization-server'].map(
    (name) => `/.well-known/${name}`,
  );
  const nothing = ['/oauth/logout', '/nothing', '/v1/nothing', '/v1/oauth/introspect'];
  for (const path of [...documents, ...nothing, '/v1/openapi.json', '/account/apps'])
    note(`GET ${path}`, await provider.request(path, html));
  const client = await provider.client({ name: 'Walk', clientId: 'walk' });
  for (const scope of ['openid profile kyc', 'openid offline_access', 'nothing'])
    note(`authorize ${scope}`, await provider.browser().get(provider.authorizeUrl(client, { scope })));
  const page = await openConsent(provider, client, { scope: 'openid profile kyc' });
  note('consent', await page.browser.get(page.address));
  const back = await page.finish();
  note('the way back', back);
  const code = back.callback.get('code') ?? '';
  const exchanged = await provider.exchange(client, code);
  const token = String(exchanged.json().access_token);
  note('exchange', exchanged);
  note('userinfo', await provider.userinfo(token));
  note('exchange again', await provider.exchange(client, code));
  note('userinfo again', await provider.userinfo(token));
  note('revocation', await provider.revoke(token));
  for (const changes of [{ grant_type: 'refresh_token', refresh_token: 'x' }, {}, { client_secret: 'wrong' }])
    note(`exchange ${JSON.stringify(changes)}`, await provider.exchange(client, 'x', changes));
  note('connected apps', await page.browser.get('/account/apps'));
  note('an app removed', await provider.removeApp(client, page.browser));
  const key = await provider.key();
  for (const target of ['GET whoami', 'GET users/KID-ANA', 'GET users/nobody', 'GET payments', 'GET events'])
    note(target, await provider.partnerCall(key, target.replace(' ', ' /v1/partner/')));
  const transfer = { amount: '1.00', currency: 'HTG', recipient: { kid: 'KID-ANA' } };
  note('payment', await provider.partnerCall(key, 'POST /v1/partner/payments', transfer));
  note(
    'payment refused',
    await provider.partnerCall(key, 'POST /v1/partner/payments', { ...transfer, amount: 1 }),
  );
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(join(import.meta.dirname, 'default-answers.txt'));
});
