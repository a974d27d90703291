/** Users of the benchmarks, with all fields that partners may see. */
export const users = Array.from({ length: 1_000 }, (_, index) => {
  const number = String(index + 1).padStart(4, '0');
  return {
    sub: `user-${number}`,
    kid: `KID-${number}`,
    role: 'member',
    country: 'HT',
    createdAt: '2024-03-01T12:00:00.000Z',
    name: `User ${number}`,
    handle: `user${number}`,
    avatarUrl: null,
    kycStatus: 'approved',
    kycTier: 2,
  } as const;
});
