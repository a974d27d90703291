/** Constants that all servers of the partner API benchmark share. */

export const paths = {
  verify: '/v1/partner/verify',
  user: '/v1/partner/users/:kid',
  payments: '/v1/partner/payments',
  reconciliation: '/v1/partner/reconciliation',
} as const;

export const partner = 'bench';

/** Day whose transfers are exported. The day is so long ago that its transfers no longer change. */
export const exportDay = '2025-06-15';
