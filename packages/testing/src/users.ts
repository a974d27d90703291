import type { KycChange, UserDirectory, UserRecord } from '@ostiary/core';

/**
 * A user of the test kit, with a phone number by which partners can find the user.
 *
 * @example
 * ```ts
 * const kit = await createTestOstiary();
 * const user: TestUser = kit.users.add({ name: 'Eve', country: 'FR', kycStatus: 'pending', kycTier: 0 });
 * ```
 */
export interface TestUser extends UserRecord {
  readonly kid: string;
  /** Phone number in E.164. */
  readonly phone: string;
}

/**
 * A user of the kit, or the id (`sub`) of one.
 *
 * @example
 * ```ts
 * const kit = await createTestOstiary();
 * const [, second] = kit.users.list;
 * const users: UserReference[] = ['user-1', second ?? kit.user];
 * for (const user of users) await kit.passports.issue(user);
 * ```
 */
export type UserReference = TestUser | string;

/**
 * Users of the kit: the directory that a host application would have.
 *
 * @example
 * ```ts
 * const kit = await createTestOstiary();
 * console.log(kit.users.list.map(({ name }) => name));
 * await kit.users.remove(kit.users.get('user-2'));
 * ```
 */
export interface TestUsers {
  /** All users of the test kit. The first default user has a value in every field of Ostiary's own scopes. */
  readonly list: readonly TestUser[];
  /** Returns the user with an id. @throws Error if there is no such user */
  get(sub: string): TestUser;
  /** Adds a user. Missing fields are filled in. */
  add(user?: Partial<TestUser>): TestUser;
  /**
   * Changes a user. A change of the identity check is published as `kyc.updated` to the partners that may see
   * it.
   *
   * @example
   * ```ts
   * const kit = await createTestOstiary();
   * await kit.users.update(kit.user, { kycStatus: 'rejected', kycTier: 0 });
   * ```
   */
  update(user: UserReference, changes: Partial<Omit<TestUser, 'sub'>>): Promise<TestUser>;
  /** Removes a user. Consents, codes and tokens of the user are revoked, and look-ups return 404. */
  remove(user: UserReference): Promise<void>;
}

/** Parts of the service that the test users need. */
interface Engine {
  kycChanged(change: KycChange): Promise<unknown>;
  end(sub: string): Promise<void>;
}

function madeUp(number: number): TestUser {
  const name = `Test User ${number}`;
  return {
    sub: `user-${number}`,
    kid: `KID-${String(number).padStart(4, '0')}`,
    // Phone numbers that no real user has.
    phone: `+509000${String(number).padStart(5, '0')}`,
    role: 'member',
    country: 'HT',
    createdAt: '2024-01-01T00:00:00.000Z',
    name,
    handle: `user-${number}`,
    avatarUrl: null,
    kycTier: 2,
    kycStatus: 'approved',
    htgBalance: '0.00',
    usdBalance: '0.00',
    trustScore: 50,
    trustTier: 'silver',
    activeCredentials: [],
  };
}

/**
 * Default users: one with a value in every field of Ostiary's own scopes, and one for each other status of the
 * identity check.
 */
const seeded: readonly Partial<TestUser>[] = [
  {
    name: 'Marie Test',
    handle: 'marie',
    avatarUrl: 'https://cdn.example/marie.png',
    htgBalance: '1250.00',
    usdBalance: '80.50',
    trustScore: 87,
    trustTier: 'gold',
    activeCredentials: [
      { id: 'cred-1', type: 'national-id', issuedAt: '2025-01-01T00:00:00.000Z', expiresAt: null },
    ],
  },
  { name: 'Paul Pending', handle: 'paul', kycStatus: 'pending', kycTier: 1 },
  { name: 'Rose Rejected', handle: 'rose', kycStatus: 'rejected', kycTier: 0 },
];

const kycOf = ({ kycStatus, kycTier }: TestUser) => ({
  kycStatus: kycStatus ?? 'pending',
  kycTier: kycTier ?? 0,
});

/** Creates the users of the test kit, and the user directory that the service reads. */
export function createTestUsers(
  given: readonly Partial<TestUser>[] = seeded,
  engine: () => Engine,
): { readonly users: TestUsers; readonly directory: UserDirectory } {
  const people = new Map<string, TestUser>();
  const subOf = (user: UserReference): string => (typeof user === 'string' ? user : user.sub);
  const find = (matches: (user: TestUser) => boolean) => [...people.values()].find(matches) ?? null;

  const get = (sub: string): TestUser => {
    const user = people.get(sub);
    if (user === undefined) throw new Error(`there is no user ${sub}; the kit has ${[...people.keys()]}`);
    return user;
  };
  let made = 0;
  const add = (fields: Partial<TestUser> = {}): TestUser => {
    made += 1;
    const user = Object.freeze({ ...madeUp(made), ...fields });
    const twin = find(({ sub, kid, phone }) => sub === user.sub || kid === user.kid || phone === user.phone);
    if (twin !== null) throw new Error(`there is a user ${twin.sub} (${twin.kid}, ${twin.phone}) already`);
    people.set(user.sub, user);
    return user;
  };
  for (const user of given) add(user);

  return {
    users: {
      get list() {
        return [...people.values()];
      },
      get,
      add,
      async update(reference, changes) {
        const before = get(subOf(reference));
        const { sub, kid } = before;
        const after = Object.freeze({ ...before, ...changes, sub });
        people.set(sub, after);
        await engine().kycChanged({ sub, kid, ...kycOf(after), previous: kycOf(before) });
        return after;
      },
      async remove(reference) {
        const { sub } = get(subOf(reference));
        people.delete(sub);
        await engine().end(sub);
      },
    },
    directory: {
      find: (sub) => people.get(sub) ?? null,
      findByKid: (kid) => find((user) => user.kid === kid),
      findByPhone: (phone) => find((user) => user.phone === phone),
    },
  };
}
