import type { Core } from '../options/context.ts';
import type { KycState, KycStatus } from '../ports/users.ts';
import { digest } from '../secrets/tokens.ts';
import { type SandboxUser, sandboxUsers } from './sandbox.ts';

/** Time after which a change of a sandbox user is undone, in milliseconds. */
export const sandboxKycLifetimeMs = 7 * 24 * 3600_000;

/** The tier that goes with a status, as the users of the sandbox have it. */
export function sandboxTierOf(status: KycStatus): KycState['kycTier'] {
  return sandboxUsers.find(({ kycStatus }) => kycStatus === status)?.kycTier ?? 0;
}

/** Returns the identity check that a sandbox user begins with. */
export function originalKyc({ kycStatus, kycTier }: SandboxUser): KycState {
  return { kycStatus: kycStatus ?? 'approved', kycTier: kycTier ?? 0 };
}

export const sameKyc = (one: KycState, other: KycState): boolean =>
  one.kycStatus === other.kycStatus && one.kycTier === other.kycTier;

/** Keep one record for each user, so that concurrent changes of two users do not undo each other. */
const recordOf = (partner: string, { sub }: SandboxUser): Buffer =>
  digest(`sandbox identity check ${partner} ${sub}`);

/** Keeps what each partner changed of the identity checks of sandbox users: for its test keys, and for a week. */
export function sandboxKycStore({ storage: { sandbox } }: Pick<Core, 'storage'>) {
  return {
    async find(partner: string, user: SandboxUser, now: number): Promise<KycState> {
      const changed = await sandbox.find(recordOf(partner, user), now);
      return changed === null ? originalKyc(user) : (changed as unknown as KycState);
    },
    /** Remove the record if it equals the user's initial state. */
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
