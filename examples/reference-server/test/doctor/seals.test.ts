import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { diagnose } from '../../src/cli/doctor.ts';
import { loadConfig } from '../../src/config.ts';
import { createLogger } from '../../src/http/logging.ts';
import { openInstallation } from '../../src/index.ts';
import { type PostgresServer, startPostgres } from '../support/postgres.ts';
import { cheap, environment } from '../support/server.ts';

let postgres: PostgresServer;
beforeAll(async () => {
  postgres = await startPostgres([]);
}, 120_000);
afterAll(() => postgres?.remove(), 60_000);

const newKey = (): string => randomBytes(32).toString('base64url');

test.each(['SQLite', 'PostgreSQL'] as const)(
  'the doctor counts what a previous sealing key is still needed for, on %s',
  async (engine) => {
    const [old, next] = [newKey(), newKey()];
    const env = await environment(
      engine === 'PostgreSQL' ? { DATABASE_URL: await postgres.createDatabase('seals') } : {},
    );
    const start = async (keys: string) => {
      const config = loadConfig({ ...env, OSTIARY_SEALING_KEYS: keys });
      const installation = await openInstallation(config, createLogger('silent'), { passwordCost: cheap });
      onTestFinished(() => installation.close());
      return installation.ostiary;
    };
    const look = async (keys: string) =>
      (await diagnose(loadConfig({ ...env, OSTIARY_SEALING_KEYS: keys })))
        .filter(({ check }) => check === 'secrets')
        .map(({ verdict, what }) => [verdict, what]);

    const { admin } = await start(old);
    await admin.partners.create({ slug: 'kafe', name: 'Kafe' });
    for (let index = 0; index < 4; index += 1)
      await admin.apiKeys.issue({ partner: 'kafe', mode: 'test', scopes: ['webhooks'] });
    // What works no more needs no key.
    const { apiKey } = await admin.apiKeys.issue({ partner: 'kafe', mode: 'live', scopes: ['webhooks'] });
    await admin.apiKeys.revoke(apiKey.id);
    expect(await look(old)).toEqual([
      ['ok', expect.stringMatching(/^all are sealed with the first sealing key \([0-9a-f]{12}\)$/)],
    ]);
    // Before the first restart: the two signing keys too.
    expect(await look(`${next},${old}`)).toEqual([['warning', '6 secrets are sealed with a previous key']]);

    // Signing keys are sealed anew by the start; the rest is a worker's business, and none runs.
    const { worker } = await start(`${next},${old}`);
    expect(await look(`${next},${old}`)).toEqual([['warning', '4 secrets are sealed with a previous key']]);
    expect(await look(next)).toEqual([
      [
        'problem',
        expect.stringMatching(
          /^4 secrets are sealed with a key that is not in OSTIARY_SEALING_KEYS \([0-9a-f]{12}\)$/,
        ),
      ],
    ]);

    worker.start();
    await expect
      .poll(() => look(`${next},${old}`), { timeout: 30_000, interval: 300 })
      .toEqual([['ok', expect.any(String)]]);
    expect((await look(next))[0]?.[0]).toBe('ok');
  },
  90_000,
);
