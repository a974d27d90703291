import type { Core } from '../options/context.ts';
import type { KycState, KycStatus } from '../ports/users.ts';
import { digest } from '../secrets/tokens.ts';
import { type SandboxUser, sandboxUsers } from './sandbox.ts';

/** Time after which a partner's change of a sandbox user's identity check ends, in milliseconds. */
export const sandboxKycLifetimeMs = 7 * 24 * 3600_000;

/** Returns the verification tier of sandbox users with a given status of the identity check. */
export function sandboxTierOf(status: KycStatus): KycState['kycTier'] {
  return sandboxUsers.find(({ kycStatus }) => kycStatus === status)?.kycTier ?? 0;
}

/** Returns the original identity check of a sandbox user. */
export function originalKyc({ kycStatus, kycTier }: SandboxUser): KycState {
  return { kycStatus: kycStatus ?? 'approved', kycTier: kycTier ?? 0 };
}

export const sameKyc = (one: KycState, other: KycState): boolean =>
  one.kycStatus === other.kycStatus && one.kycTier === other.kycTier;

/**
 * Returns the key of the record of a sandbox user's changed identity check. There is one record per user, so
 * that concurrent changes of two users do not undo each other.
 */
const recordOf = (partner: string, { sub }: SandboxUser): Buffer =>
  digest(`sandbox identity check ${partner} ${sub}`);

/** Stores a partner's changes of sandbox users' identity checks, which its test keys see for a week. */
export function sandboxKycStore({ storage: { sandbox } }: Pick<Core, 'storage'>) {
  return {
    async find(partner: string, user: SandboxUser, now: number): Promise<KycState> {
      const changed = await sandbox.find(recordOf(partner, user), now);
      return changed === null ? originalKyc(user) : (changed as unknown as KycState);
    },
    /**
     * Stores a changed identity check of a sandbox user, or removes the record if the check is back to the
     * original.
     */
    async save(partner: string, user: SandboxUser, kyc: KycState, now: number): Promise<void> {
      const record = recordOf(partner, user);
      if (sameKyc(kyc, originalKyc(user))) {
        await sandbox.remove(record);
        return;
      }
      const { kycStatus, kycTier } = kyc;
      await sandbox.save(record, { kycStatus, kycTier }, now + sandboxKycLifetimeMs);
    },
  };
}
