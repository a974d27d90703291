import type { Command } from '@ostiary/cli';
import type { Installation } from '../installation.ts';
import { AccountError } from '../users/accounts.ts';

/**
 * Command `passport`: issues a passport for a user and prints its text, which the passport page shows as a QR
 * code. The operator acts for the user, so the audit log records it.
 */
export const passportCommand: Command<Installation> = {
  about: 'print a passport of a user, valid for five minutes, and nothing else',
  example: 'anaika',
  positionals: ['handle'],
  async run({ admin, subject: { accounts, ostiary } }, { positionals: [handle = ''] }) {
    const account = await accounts.require(handle);
    if (account.blockedAt !== null) throw new AccountError(`${account.handle} is blocked`);
    const { token, ...times } = await ostiary.passports.issue(account.sub);
    const [issuedAt, expiresAt] = [times.issuedAt, times.expiresAt].map((time) => time.toISOString());
    await admin.audit.record({ action: 'user.passport', target: `user:${account.sub}` });
    return {
      text: token,
      note: `Passport of ${account.handle} (${account.kid}), valid until ${expiresAt}.`,
      json: { token, kid: account.kid, issuedAt, expiresAt },
    };
  },
};
