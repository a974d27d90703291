import { describe, expect, onTestFinished, test } from 'vitest';
import { startPair } from '../../../lab/support/postgres/pair.ts';
import { pgbouncer, startPgBouncer } from '../../../lab/support/postgres/pgbouncer.ts';
import { anaika, environment, start } from './support/server.ts';
import { Visitor } from './support/visitor.ts';

if (pgbouncer === undefined)
  console.log('The test of the server behind PgBouncer is left out: there is no pgbouncer.');

describe.skipIf(pgbouncer === undefined)('the server behind PgBouncer', () => {
  test('never responds from a standby after a switchover, and continues at the new primary', async () => {
    const pair = await startPair({ fsync: false });
    onTestFinished(() => pair.remove());
    await pair.addStandby();
    const pooler = await startPgBouncer(pgbouncer ?? '', pair.primaryPort());
    onTestFinished(() => pooler.stop());
    const server = await start(await environment({ DATABASE_URL: pooler.url, OSTIARY_ROLE: 'web' }));
    const { accounts, ostiary } = server.installation;
    await accounts.create(anaika);
    await ostiary.admin.partners.create({ slug: 'kafe', name: 'Kafe' });
    const { key } = await ostiary.admin.apiKeys.issue({
      partner: 'kafe',
      mode: 'live',
      scopes: ['payments:read'],
    });
    const origin = `http://localhost:${server.port}`;
    const visitor = new Visitor(origin);
    await visitor.signIn(anaika.handle, anaika.password);
    const headers = {
      Cookie: [...visitor.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
      Authorization: `Bearer svc_at_${'a'.repeat(43)}`,
      'X-API-Key': key,
    };
    const statusOf = async (path: string) =>
      (await fetch(`${origin}${path}`, { headers, redirect: 'manual' })).status;
    const paths = ['/readyz', '/v1/oauth/userinfo', '/', '/passport', '/v1/partner/payments'];
    const all = () => Promise.all(paths.map(async (path) => [path, await statusOf(path)] as const));
    const working = Object.fromEntries(await all());
    expect(working).toMatchObject({ '/readyz': 200, '/v1/oauth/userinfo': 401, '/': 200 });
    // Make sure that every connection of the pool has been used with the primary.
    await Promise.all(Array.from({ length: 5 }, all));

    await pair.switchOver();
    for (const round of [1, 2, 3])
      for (const [path, status] of await all()) expect([round, path, status]).toEqual([round, path, 503]);

    await pooler.pointTo(pair.primaryPort());
    const began = performance.now();
    await expect.poll(async () => Object.fromEntries(await all()), { timeout: 10_000 }).toEqual(working);
    expect(performance.now() - began).toBeLessThan(4_000);
  }, 90_000);
});
