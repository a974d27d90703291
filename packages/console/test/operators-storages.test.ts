import type { Storage } from '@ostiary/core/storage';
import { expect, it } from 'vitest';
import { postgresStorage } from '../../adapter-postgres/src/index.ts';
import { serverForTests } from '../../adapter-postgres/test/server.ts';
import { storages } from '../../core/test/support/partner-api.ts';
import { followed, operatorsKit, submit } from './console-kit.ts';

const postgres = serverForTests();

const all: readonly (readonly [string, () => Promise<Storage>])[] = [
  ...storages.map(([name, make]) => [name, async () => make()] as const),
  ['PostgreSQL', async () => postgresStorage({ connectionString: postgres.url })],
];

it.each(all)('the pages for operators work on %s', async (_, make) => {
  const kit = await operatorsKit({}, await make());
  const browser = kit.browser('ana');
  const created = await submit(browser, '/partners', { act: 'create', slug: 'kafe', name: 'Kafe' });
  expect(created.status).toBe(303);
  const issued = { act: 'issue', mode: 'test', 'scope webhooks': 'on' };
  expect((await followed(browser, '/partners/kafe/keys', issued)).text).toMatch(/<code[^>]*>svc_test_/);
  const key = await kit.provider.key({ partner: 'kafe', mode: 'test' });
  const endpoint = await kit.endpoint(key);
  await kit.event(key);
  await kit.attempt({ error: 'timeout', httpStatus: null, response: null }, 'dropped');
  await kit.provider.client({ clientId: 'app' });
  for (const path of [
    ...['', '/partners', '/partners/kafe', '/partners/kafe/keys', `/partners/kafe/keys/${key.id}`],
    ...['/partners/kafe/webhooks?mode=test', `/partners/kafe/webhooks/${endpoint}?mode=test`],
    ...['/clients', '/clients/app', '/clients?after=%00', '/audit?target=%00x', '/signing-keys', '/upkeep'],
    ...['/users', '/user?sub=u-1'],
  ])
    expect.soft([path, (await browser.get(`/operators${path}`)).status]).toEqual([path, 200]);
  expect((await browser.get('/operators')).text).toMatch(/given up within a day<\/dt><dd>1</);
  expect((await submit(browser, '/audit', { act: 'verify' })).text).toContain('The chain is whole.');
  expect(await kit.lastAct()).toMatchObject({ action: 'client.create' });
});
