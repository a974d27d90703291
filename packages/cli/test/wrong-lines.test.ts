import { join } from 'node:path';
import { expect, it } from 'vitest';
import { webhookProvider } from '../../core/test/partner/webhook-shop.ts';
import { expectPlain } from '../../core/test/support/plain-words.ts';
import { terminal } from './support.ts';

/** Wrong command lines with their exit codes. Their recorded output is in a file beside this one. */
const lines: readonly (readonly [code: 2 | 3, line: string])[] = [
  // Unknown names.
  [2, 'partner list'],
  [2, 'partners lst'],
  [2, 'partners'],
  [2, 'nothing at all'],
  [2, 'list partners'],
  [2, 'list keys'],
  [2, 'help partnres'],
  [2, 'clients creat --name Shop'],
  [2, 'partners create kafe --nmae Kafe'],
  [2, 'partners list -x'],
  [2, 'partners list --all'],
  // Values that are missing, or too many.
  [2, 'partners create'],
  [2, 'partners create shop'],
  [2, 'partners create shop --name'],
  [2, 'partners create shop --name --json-lines'],
  [2, 'partners create shop --name ""'],
  [2, 'partners create shop Shop --name Shop'],
  [2, 'partners list kafe'],
  [2, 'partners list --json=yes'],
  [2, 'partners list --actor'],
  [2, 'partners list --actor --yes'],
  [2, 'keys issue'],
  [2, 'keys issue kafe'],
  [2, 'clients create'],
  [2, 'clients create --name Shop'],
  [2, 'clients update svc_client_none'],
  [2, 'endpoints recover kafe'],
  [2, 'export kafe'],
  [2, 'import'],
  [2, 'import --from auth0 --file x.json'],
  [2, 'import --from hydra --file /nowhere/x.json'],
  [2, 'completion powershell'],
  // Values of the wrong kind.
  [2, 'partners list --limit many'],
  [2, 'partners list --limit 0'],
  [2, 'audit list --after nobody/knows'],
  [2, 'partners create KAFE --name Kafe'],
  [2, 'partners create kafe --name "Kafe once more"'],
  [2, 'keys issue kafe --mode dead --scope payments:read'],
  [2, 'keys issue kafe --mode live --scope payments:red,payments:read,everything'],
  [2, 'keys issue kafe --mode live --scope all --expires tomorrow'],
  [2, 'keys issue kafe --mode live --scope all --expires 2030-02-30'],
  [2, 'keys issue kafe --mode live --scope all --allow home'],
  [2, 'clients create --name Shop --redirect-uri shop --scope openid'],
  [2, 'clients create --name Shop --redirect-uri https://shop.example/cb --scope openid,everything'],
  [
    2,
    'clients create --name Shop --redirect-uri https://shop.example/cb --scope openid --id-token-alg HS256',
  ],
  [2, 'signing-keys rotate --activate-after -5'],
  [2, 'deliveries list kafe --status lost'],
  [2, 'endpoints recover kafe we_none --since soon'],
  [2, 'tail kafe --event-types payment.completed,payment.lost --once'],
  [2, 'export kafe --from yesterday --to today --file /tmp/never.csv'],
  [2, 'export kafe --from 2026-02-30 --file /tmp/never.csv'],
  [2, 'audit verify --head nonsense'],
  // Names that do not exist.
  [3, 'partners disable nobody --yes'],
  [3, 'keys issue nobody --mode live --scope all'],
  [3, 'keys list nobody'],
  [3, 'keys revoke key_none --yes'],
  [3, 'clients show nobody'],
  [3, 'endpoints list nobody'],
  [3, 'endpoints disable kafe we_none --yes'],
  [3, 'deliveries redeliver kafe evt_none'],
  [3, 'tail nobody'],
];

it('wrong command lines get an error with the mistake and its correction', async () => {
  const { provider, run } = await terminal(webhookProvider());
  await provider.ostiary.admin.partners.create({ slug: 'kafe', name: 'Kafe' });
  expect(lines.length).toBeGreaterThanOrEqual(50);
  let recorded = '';
  for (const [code, line] of lines) {
    const told = await run(line);
    expect.soft([line, told.code, told.out]).toEqual([line, code, '']);
    expectPlain(told.err, line);
    // Every error has advice: a command for more information, or the known values.
    expect.soft(told.err, line).toMatch(/^(?:Run|Usage:) ostiary /m);
    recorded += `$ ostiary ${line}\n${told.err}\n`;
    // With `--json`, programs get the error in one line.
    const { err } = await run(`${line} --json`);
    const { error } = JSON.parse(err);
    expect.soft(error, line).toEqual({
      code: expect.stringMatching(/^[a-z_]+$/),
      message: expect.any(String),
      problems: expect.any(Array),
      remedy: expect.any(Array),
    });
    expect.soft(err.split('\n'), line).toHaveLength(2);
  }
  await expect(recorded).toMatchFileSnapshot(join(import.meta.dirname, 'wrong-lines.txt'));
});
