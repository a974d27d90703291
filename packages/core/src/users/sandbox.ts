import type { KycStatus, UserRecord } from '../ports/users.ts';

/** A fictional user that only test keys see. */
export interface SandboxUser extends UserRecord {
  readonly kid: string;
  readonly phone: string;
}

const sandboxUser = (
  name: string,
  kycStatus: KycStatus,
  kycTier: 0 | 1 | 2,
  ids: Pick<SandboxUser, 'kid' | 'phone'>,
): SandboxUser => ({
  ...ids,
  sub: `sandbox-${kycStatus}`,
  name,
  handle: `test-${kycStatus}`,
  role: 'member',
  country: 'HT',
  avatarUrl: null,
  createdAt: '2024-01-01T00:00:00.000Z',
  kycStatus,
  kycTier,
});

/** Sandbox users: one for each status of the identity check. Their phone numbers are unassigned. */
export const sandboxUsers: readonly SandboxUser[] = [
  sandboxUser('Test Approved', 'approved', 2, { kid: 'KID-TEST-APPROVED', phone: '+50900000001' }),
  sandboxUser('Test Pending', 'pending', 1, { kid: 'KID-TEST-PENDING', phone: '+50900000002' }),
  sandboxUser('Test Rejected', 'rejected', 0, { kid: 'KID-TEST-REJECTED', phone: '+50900000003' }),
];
