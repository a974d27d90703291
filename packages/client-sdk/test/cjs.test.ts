import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { fakeKey } from './support/faulty.ts';

const root = resolve(import.meta.dirname, '..');
const execute = promisify(execFile);

/** What an application does, the same in both module systems. */
const application = `
  const options = { apiKey: '${fakeKey}', baseUrl: 'https://api.example', maxRetries: 0 };
  const answers = [];
  const run = async () => {
    const fetch = async () => new Response('{"code":"not_found","message":"No."}', { status: 404 });
    const ostiary = new OstiaryPartner({ ...options, fetch });
    const error = await ostiary.payments.retrieve('tr_1').catch((e) => e);
    answers.push(error instanceof NotFoundError, error.name);
    // One class of clients for all entries.
    const rows = exportReconciliation(ostiary, { date: '2026-03-01' })[Symbol.asyncIterator]();
    answers.push((await rows.next().catch((e) => e)) instanceof NotFoundError);
    const oauth = new OstiaryOAuth({ authUrl: 'https://id.example', clientId: 'app', redirectUri: 'https://app.example/' });
    const refused = await oauth.exchange({ callbackUrl: '/?state=x', state: 'y', codeVerifier: 'v' }).catch((e) => e);
    // One class of errors for all entries.
    answers.push(refused instanceof OstiaryError, (await oauth.authorizeUrl({ scope: ['openid'] })).state.length);
    console.log(JSON.stringify(answers));
  };
  run();
`;

it('what is published runs as CommonJS and as ES modules', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ostiary-sdk-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const target = join(folder, 'node_modules/@ostiary/client-sdk');
  await mkdir(target, { recursive: true });
  await cp(join(root, 'package.json'), join(target, 'package.json'));
  const tsup = resolve(root, '../../node_modules/.bin/tsup');
  await execute(tsup, ['--no-dts', '--out-dir', join(target, 'dist')], { cwd: root });
  const names = '{ NotFoundError, OstiaryError, OstiaryPartner }';
  await writeFile(
    join(folder, 'app.cjs'),
    `const ${names} = require('@ostiary/client-sdk');
     const { OstiaryOAuth } = require('@ostiary/client-sdk/oauth');
     const { exportReconciliation } = require('@ostiary/client-sdk/reconciliation');${application}`,
  );
  await writeFile(
    join(folder, 'app.mjs'),
    `import ${names} from '@ostiary/client-sdk';
     import { OstiaryOAuth } from '@ostiary/client-sdk/oauth';
     import { exportReconciliation } from '@ostiary/client-sdk/reconciliation';${application}`,
  );
  for (const name of ['app.cjs', 'app.mjs']) {
    const { stdout } = await execute(process.execPath, [name], { cwd: folder, env: { PATH: '' } });
    expect([name, JSON.parse(stdout)]).toEqual([name, [true, 'NotFoundError', true, true, 43]]);
  }
}, 60_000);
