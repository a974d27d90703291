import { describe, expect, it } from 'vitest';
import type { TestBrowser } from '../../core/test/support/browser.ts';
import { operatorsKit } from './console-kit.ts';

const names = [
  ...[
    'notice',
    'id',
    'until',
    'type',
    'state',
    'endpoint',
    'before',
    'cursor',
    'only',
    'queued',
    'v',
    '__proto__',
  ],
  ...[
    'after',
    'mode',
    'status',
    'partner',
    'slug',
    'actor',
    'action',
    'target',
    'from',
    'to',
    'q',
    'since',
    'client',
  ],
];

const hostile = [
  ...[`"><xss onx="1">'`, '</script><xss>', '\u202etxt.exe\u2066', '\u0000', '\ud800', '%', '%00%ff'],
  ...['__proto__', 'constructor', 'hasOwnProperty', 'toString', 'javascript:alert(1)', '//evil.example'],
  ...['x'.repeat(5_000), '\r\nSet-Cookie: a=b', '9'.repeat(400), '-1', '1e999', 'NaN', '[]', '{"$gt":""}'],
  ...['2026-13-45T99:99', '2026-01-01T00:00', '999999-01-01T00:00', `' OR 1=1 --`, '*', '%_%', '\\'],
];

/**
 * Requests a page with the given value for every parameter, each name twice. Requests the list of events also
 * with `until` alone, because another parameter could hide its effect.
 */
async function ask(browser: TestBrowser, page: string, value: string) {
  const answers = [];
  for (const asked of page === '/sandbox' ? [names, ['until']] : [names]) {
    const query = asked.map((name) => `${name}=${encodeURIComponent(value.toWellFormed())}`).join('&');
    answers.push(await browser.get(`${page}?${query}&${query}`));
  }
  return answers;
}

describe('parameters of URLs', () => {
  it('put nothing into a page, and break no page', { timeout: 120_000 }, async () => {
    const kit = await operatorsKit({ partnerLimits: { console: { requests: 100_000, windowSeconds: 60 } } });
    const { provider } = kit;
    const key = await kit.key();
    const endpoint = await kit.endpoint(key);
    const event = await kit.event(key);
    const requested = await provider.partnerCall(key, 'GET /v1/partner/whoami');
    await kit.attempt({ httpStatus: 500, error: 'status', response: 'no' });
    await provider.client({ clientId: 'app' });
    const [partnerBrowser, operatorBrowser] = [await kit.signedIn(key), kit.browser('ana')];
    const partner = `/operators/partners/${key.partner}`;
    const sandbox = [
      ...['', '/trigger', '/endpoints', '/requests', '/tools', `/events/${event}`, `/endpoints/${endpoint}`],
      ...[`/endpoints/${endpoint}/edit`, `/endpoints/${endpoint}/secret`],
      `/requests/${requested.headers.get('x-request-id')}`,
    ].map((page) => [partnerBrowser, `/sandbox${page}`] as const);
    const operators = [
      ...['/operators', '/operators/partners', partner, `${partner}/keys`, `${partner}/keys/${key.id}`],
      ...[
        `${partner}/webhooks`,
        `${partner}/webhooks/${endpoint}`,
        '/operators/clients',
        '/operators/new-client',
      ],
      ...['/operators/clients/app', '/operators/audit', '/operators/signing-keys', '/operators/upkeep'],
      ...['/operators/users', '/operators/user?sub=u-1'],
    ].map((page) => [operatorBrowser, page] as const);
    for (const [browser, page] of [...sandbox, ...operators]) {
      for (const value of hostile) {
        for (const { status, text, location, headers } of await ask(browser, page, value)) {
          expect.soft([page, value, status < 500], text.slice(0, 300)).toEqual([page, value, true]);
          expect.soft([page, /<xss|onx="|\0/.exec(text)?.[0]]).toEqual([page, undefined]);
          // A field keeps the typed value; remove it.
          const around = text.replaceAll(/ value="[^"]*"/g, '');
          expect.soft([page, /[\u202e\u2066]/.exec(around)?.[0]]).toEqual([page, undefined]);
          if (location !== null) expect.soft(new URL(location).origin).toBe(provider.origin);
          expect.soft(headers.get('set-cookie')).toBeNull();
        }
      }
    }
    expect(provider.errors).toEqual([]);
  });
});
