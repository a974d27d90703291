import type { Command } from '@ostiary/cli';
import { AccountError } from '../users/accounts.ts';
import type { Operated } from './operated.ts';

/** Prints a passport as the passport page shows it. Whoever does that acts for the user, so the audit log says so. */
export const passportCommand: Command<Operated> = {
  about: 'print a passport of a user, valid for five minutes, and nothing else',
  positionals: ['handle'],
  async run({ admin, subject: { accounts, ostiary } }, { positionals: [handle = ''] }) {
    const account = await accounts.get(handle);
    if (account === null)
      throw new AccountError(`there is no user with the handle ${JSON.stringify(handle)}`);
    if (account.blockedAt !== null) throw new AccountError(`${account.handle} is blocked`);
    const { token, issuedAt, expiresAt } = await ostiary.passports.issue(account.sub);
    await admin.audit.record({ action: 'user.passport', target: `user:${account.sub}` });
    return {
      text: token,
      note: `Passport of ${account.handle} (${account.kid}), valid until ${expiresAt.toISOString()}.`,
      json: {
        token,
        kid: account.kid,
        issuedAt: issuedAt.toISOString(),
        expiresAt: expiresAt.toISOString(),
      },
    };
  },
};
