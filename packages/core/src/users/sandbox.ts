import type { UserRecord } from '../ports/users.ts';

/** A user that only test keys see. */
export interface SandboxUser extends UserRecord {
  readonly kid: string;
  readonly phone: string;
}

const common = {
  role: 'member',
  country: 'HT',
  avatarUrl: null,
  createdAt: '2024-01-01T00:00:00.000Z',
} as const;

/** Users of the sandbox: one for each state of the identity check. Their phone numbers belong to nobody. */
export const sandboxUsers: readonly SandboxUser[] = [
  {
    ...common,
    sub: 'sandbox-approved',
    kid: 'KID-TEST-APPROVED',
    phone: '+50900000001',
    name: 'Test Approved',
    handle: 'test-approved',
    kycStatus: 'approved',
    kycTier: 2,
  },
  {
    ...common,
    sub: 'sandbox-pending',
    kid: 'KID-TEST-PENDING',
    phone: '+50900000002',
    name: 'Test Pending',
    handle: 'test-pending',
    kycStatus: 'pending',
    kycTier: 1,
  },
  {
    ...common,
    sub: 'sandbox-rejected',
    kid: 'KID-TEST-REJECTED',
    phone: '+50900000003',
    name: 'Test Rejected',
    handle: 'test-rejected',
    kycStatus: 'rejected',
    kycTier: 0,
  },
];
