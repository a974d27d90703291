import { AccountError } from '../users/accounts.ts';
import { type Command, runSingle } from './command.ts';

const usage = `Prints a passport of a user, as the passport page shows it. It is valid for five minutes.

  npm run passport -- <handle>

Standard output gets the token alone. --json prints JSON.`;

const passport: Command = {
  flags: {},
  positionals: ['handle'],
  async run({ accounts, ostiary }, { positionals: [handle = ''] }) {
    const account = await accounts.get(handle);
    if (account === null)
      throw new AccountError(`there is no user with the handle ${JSON.stringify(handle)}`);
    if (account.blockedAt !== null) throw new AccountError(`${account.handle} is blocked`);
    const { token, issuedAt, expiresAt } = await ostiary.passports.issue(account.sub);
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

process.umask(0o077);
process.exitCode = await runSingle(passport, usage, process.argv.slice(2));
