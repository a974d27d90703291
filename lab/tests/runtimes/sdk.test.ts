import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fakeKey, faulty, hang, pass, resetAfter } from '../../../packages/client-sdk/test/support/faulty.ts';
import { clientOf } from '../../../packages/client-sdk/test/support/partner.ts';
import { ana } from '../../../packages/core/test/support/directory.ts';
import { partnerProvider } from '../../../packages/core/test/support/partner-api.ts';
import { serve } from '../../../packages/core/test/support/running.ts';
import { freePort } from '../../support/free-port.ts';
import { type Installed, install, runtimes } from './installed.ts';
import type { Findings, Surroundings } from './sdk-smoke.ts';

let sdk: Installed;
beforeAll(async () => {
  sdk = await install('client-sdk', ['package.json'], ['sdk']);
}, 60_000);
afterAll(() => sdk.remove());

/**
 * Starts a real server with two transfers in their last state, a faulty proxy in front of the server, and a
 * browser in which the user Ana is signed in.
 */
async function surroundings(file: string): Promise<Surroundings> {
  const { provider } = await partnerProvider();
  const { key: apiKey, signingSecret } = await provider.key({ mode: 'test', requireSignature: true });
  const { ostiary } = clientOf(provider.origin, apiKey, { signingSecret, now: () => provider.clock.now() });
  const payment = { amount: '125.00', currency: 'HTG', recipient: { kid: 'KID-TEST-APPROVED' } } as const;
  for (const reference of ['order-1', 'order-2']) await ostiary.payments.create({ ...payment, reference });
  for (let isPending = true; isPending; ) {
    await provider.ostiary.worker.runDue();
    isPending = (await ostiary.payments.list({ status: 'pending' }).page()).data.length > 0;
  }
  const before = await faulty([resetAfter, pass, hang], provider.origin);
  const redirectUri = 'https://app.example/callback';
  const app = await provider.client({ redirectUris: [redirectUri] });
  const browser = await serve(async (request, response) => {
    const { location } = await provider.follow(provider.browser(ana.sub), await text(request));
    response.end(location);
  });
  return {
    ...{ apiKey, signingSecret, file },
    direct: provider.origin,
    faulty: before.origin,
    closed: `http://127.0.0.1:${await freePort()}`,
    browser,
    client: { clientId: app.id, clientSecret: app.secret ?? '', redirectUri },
    date: new Date(provider.clock.now()).toISOString().slice(0, 10),
  };
}

describe('the built client SDK does what a partner needs', () => {
  it.each(Object.keys(runtimes))(
    'in %s',
    async (name) => {
      const file = join(sdk.folder, `${name.replace(' ', '-')}.csv`);
      const given = JSON.stringify(await surroundings(file));
      expect(await sdk.run(name, 'sdk.mjs', [given])).toEqual({
        mode: 'test',
        verified: 'KID-TEST-APPROVED',
        attempts: 2,
        replayed: 'true',
        hung: [true, 'unknown'],
        listed: [3, true],
        exported: [2, 2],
        refused: [true, 'not_executed'],
        // Only errors of Node show that no connection was made.
        unreachable: name.startsWith('Node')
          ? 'not_executed'
          : expect.stringMatching(/^(not_executed|unknown)$/),
        signedIn: ['Ana Joseph', ['openid', 'profile']],
        revoked: 'invalid_token',
        shown: false,
      } satisfies Findings);
      expect(
        (await readFile(file, 'utf8')).split('\r\n').filter((line) => line.startsWith('tr_')),
      ).toHaveLength(2);
    },
    90_000,
  );

  it('in CommonJS too, with one class of errors and of clients for all entries', async () => {
    const answers = await sdk.required([
      `const { NotFoundError, OstiaryError, OstiaryPartner } = require('@ostiary/client-sdk');`,
      `const { CallbackError } = require('@ostiary/client-sdk/oauth');`,
      `const { exportReconciliation } = require('@ostiary/client-sdk/reconciliation');`,
      `const fetch = async () => new Response('{"code":"not_found","message":"No."}', { status: 404 });`,
      `const ostiary = new OstiaryPartner({ apiKey: '${fakeKey}', baseUrl: 'https://api.example', fetch });`,
      `const rows = exportReconciliation(ostiary, { date: '2026-03-01' })[Symbol.asyncIterator]();`,
      `const classes = (error) => [CallbackError.prototype instanceof OstiaryError, error instanceof NotFoundError];`,
      `rows.next().catch((error) => console.log(JSON.stringify(classes(error))));`,
    ]);
    expect(answers).toEqual(answers.map(() => [true, true]));
  });
});
