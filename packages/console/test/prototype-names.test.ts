import { expect, it } from 'vitest';
import { act, visited } from './console-kit.ts';

const names = Object.getOwnPropertyNames(Object.prototype);
const kid = 'KID-TEST-APPROVED';
const payment = { outcome: 'completed', amount: '1', currency: 'HTG', kid };

/** Forms in which a name such as `__proto__` is a value or the name of a field. */
const forms = (name: string): [string, Record<string, string>][] => [
  ['/sandbox/trigger', { type: name, step: 'send' }],
  ['/sandbox/trigger', { type: 'webhook.test', step: 'send', [name]: 'x', [`data.${name}`]: 'x' }],
  [
    '/sandbox/endpoints',
    { url: `https://a.example/${name}`, secret: 'x'.repeat(20), [`type ${name}`]: 'on' },
  ],
  [
    '/sandbox/endpoints',
    { url: `https://a.example/${name}`, secret: 'x'.repeat(20), 'type *': 'on', [name]: 'on' },
  ],
  ['/sandbox/tools/passport', { kid: name, state: 'valid' }],
  ['/sandbox/tools/passport', { kid, state: name }],
  ['/sandbox/tools/payment', { ...payment, outcome: name, once: 'a' }],
  ['/sandbox/tools/payment', { ...payment, currency: name, kid: name, once: 'b', reference: name }],
  ['/sandbox/tools/payment', { ...payment, once: name, reference: name }],
  ['/sandbox/tools/kyc', { kid: name, status: 'rejected', once: 'c' }],
  ['/sandbox/tools/kyc', { kid, status: name, once: 'd' }],
  ['/sandbox/tools/signature', { endpoint: name, [name]: name }],
  ['/sandbox/first-run', { [name]: name }],
];

const pages = (name: string): string[] => [
  `/sandbox/events/${name}`,
  `/sandbox/endpoints/${name}`,
  `/sandbox/requests/${name}`,
  `/sandbox/payments/${name}`,
  `/sandbox/deliveries/${name}/answer?attempt=1`,
  `/sandbox/requests?id=${name}`,
  `/sandbox/trigger?type=${name}`,
  `/sandbox?type=${name}&status=${name}&notice=${name}&${name}=1`,
];

const calls = (name: string): [string, object?][] => [
  ['POST /v1/partner/sandbox/events', { type: 'webhook.test', data: Object.fromEntries([[name, { x: 1 }]]) }],
  ['POST /v1/partner/sandbox/passports', Object.fromEntries([...Object.entries({ kid: name }), [name, 1]])],
  ['POST /v1/partner/passports/verify', { token: name }],
  [`GET /v1/partner/payments?reference=${name}`],
  [`GET /v1/partner/payments?${name}=1`],
  [`GET /v1/partner/users/${name}/kyc`],
  [`GET /v1/partner/events?type=${name}`],
];

// The set-up of the tests checks after each test that objects have no new member.
it.each(names)('%s in forms and addresses of the console and in test mode breaks nothing', async (name) => {
  const { kit, key, browser } = await visited();
  const seen: [string, number][] = [];
  for (const [path, form] of forms(name)) seen.push([path, (await act(browser, path, form)).status]);
  for (const path of pages(name)) seen.push([path, (await browser.get(path)).status]);
  for (const [call, body] of calls(name))
    seen.push([call, (await kit.provider.partnerCall(key, call, body)).status]);
  expect(seen.filter(([, status]) => status >= 500)).toEqual([]);
  expect(kit.provider.errors).toEqual([]);
});
