import { runCommandLine } from '@ostiary/cli';
import { expect, it } from 'vitest';
import { partnerFundCommands } from '../../src/cli/partner-funds.ts';
import { createLogger } from '../../src/http/logging.ts';
import { loadConfig } from '../../src/index.ts';
import { openInstallation } from '../../src/installation.ts';
import { environment } from '../support/server.ts';

/** Stores a partner, and returns the function that opens the installation. */
async function withPartner() {
  const env = await environment();
  const open = async () => openInstallation(loadConfig(env), createLogger('silent'));
  const setup = await open();
  await setup.admin.partners.create({ slug: 'kafe', name: 'Kafe' });
  await setup.close();
  return open;
}

const fund = ['partners', 'fund', 'kafe', '--amount', '100.00', '--currency', 'USD'];

it('says that money was recorded if only the audit log could not be written', async () => {
  const open = await withPartner();
  let err = '';
  const code = await runCommandLine({
    async open() {
      const opened = await open();
      const admin = opened.admin.as('ana');
      const audit = { ...admin.audit, record: () => Promise.reject(new Error('the database is locked')) };
      return { ...opened, admin: { ...admin, audit, as: () => ({ ...admin, audit }) } };
    },
    commands: partnerFundCommands,
    argv: fund,
    stderr: { write: (text) => (err += text) },
  });
  expect([code, err]).toEqual([
    1,
    'kafe has 100.00 USD: the money was recorded, do not repeat this. Only the audit log lacks it (the database is locked)\n',
  ]);
});

it('takes a reference without the blanks around it, and refuses an empty one', async () => {
  const open = await withPartner();
  let said = '';
  const write = (text: string) => (said += text);
  const codes: number[] = [];
  for (const reference of ['BNK-1', ' BNK-1\n', '', ' ']) {
    const argv = [...fund, '--reference', reference];
    const streams = { stdout: { write }, stderr: { write } };
    codes.push(await runCommandLine({ open, commands: partnerFundCommands, argv, ...streams }));
  }
  expect(codes).toEqual([0, 0, 2, 2]);
  expect(said.match(/kafe has 100\.00 USD/g)).toHaveLength(2);
});
