import type { OperatorUser, OperatorUsers } from '@ostiary/console';
import type { Ostiary } from '@ostiary/core';
import type { Database } from '../database/database.ts';
import { userSessions } from '../sign-in/sessions.ts';
import type { Account, Accounts } from './accounts.ts';
import type { IdentityChecks } from './identity-checks.ts';

const kycStatuses = ['approved', 'pending', 'rejected'] as const;
const kycTiers = [0, 1, 2, 3] as const;

function userOf({ kycStatus, kycTier, ...account }: Account): OperatorUser {
  const status = kycStatuses.find((known) => known === kycStatus);
  const tier = kycTiers.find((known) => known === kycTier);
  return {
    ...account,
    ...(status !== undefined && tier !== undefined && { kyc: { kycStatus: status, kycTier: tier } }),
  };
}

/** Parts of the installation that the operators' pages about users need. */
interface Parts {
  readonly database: Database;
  readonly now: () => number;
  readonly accounts: Accounts;
  readonly identityChecks: IdentityChecks;
  readonly signedOut: Ostiary['users']['signedOut'];
}

/** Makes the functions with which the operators' pages find and change this server's users. */
export function createOperatorUsers({
  database,
  now,
  accounts,
  identityChecks,
  signedOut,
}: Parts): Required<OperatorUsers> {
  const sessionCount = `
    SELECT count(*) AS sessions FROM app_sessions
    WHERE sub = :sub AND ends_at > :now AND seen_at > :idleSince`;

  async function handleOf(sub: string): Promise<string> {
    const account = await accounts.getBySub(sub);
    if (account === null) throw new Error('the user was removed while the page was open');
    return account.handle;
  }

  return {
    async search({ text, after, limit }) {
      const found = await accounts.search({ text, after: after ?? '', limit: limit + 1 });
      const users = found.slice(0, limit).map(userOf);
      return { users, next: found.length > limit ? (users.at(-1)?.handle ?? null) : null };
    },

    async find(sub) {
      const account = await accounts.getBySub(sub);
      if (account === null) return null;
      const values = { sub, now: now(), idleSince: now() - userSessions.idleMs };
      const row = await database.get<{ sessions: number }>(sessionCount, values);
      return { ...userOf(account), sessions: Number(row?.sessions ?? 0) };
    },

    async block(sub, admin) {
      await accounts.block(await handleOf(sub));
      await admin.users.end(sub);
      await admin.audit.record({ action: 'user.block', target: `user:${sub}` });
    },

    async unblock(sub, admin) {
      await accounts.unblock(await handleOf(sub));
      await admin.audit.record({ action: 'user.unblock', target: `user:${sub}` });
    },

    async endSessions(sub, admin) {
      await database.write((transaction) =>
        transaction.run('DELETE FROM app_sessions WHERE sub = :sub', { sub }),
      );
      await signedOut(sub);
      await admin.audit.record({ action: 'user.end_sessions', target: `user:${sub}` });
    },

    async changeKyc(sub, changes, admin) {
      await identityChecks.change(await handleOf(sub), changes);
      await admin.audit.record({ action: 'user.kyc', target: `user:${sub}`, details: { ...changes } });
    },
  };
}
