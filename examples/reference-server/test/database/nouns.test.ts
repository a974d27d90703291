import { beforeEach, expect, test } from 'vitest';
import type { Database } from '../../src/database/database.ts';
import { createLedger, LedgerError } from '../../src/ledger/ledger.ts';
import { post } from '../../src/ledger/postings.ts';
import { createSessions, userSessions } from '../../src/sign-in/sessions.ts';
import { createThrottle } from '../../src/sign-in/throttle.ts';
import { type Accounts, createAccounts } from '../../src/users/accounts.ts';
import { createDirectory } from '../../src/users/directory.ts';
import { createPasswords } from '../../src/users/passwords.ts';
import { expectBalanced } from '../support/books.ts';
import { type Opened, onBothEngines } from '../support/engines.ts';
import { anaika, cheap, jean } from '../support/server.ts';

onBothEngines('every noun', (engine) => {
  let opened: Opened;
  let database: Database;
  let accounts: Accounts;
  let time = 0;
  const now = (): number => time;
  const signal = new AbortController().signal;
  const accountsOf = (on: Database): Accounts => createAccounts(on, createPasswords(cheap), now);

  beforeEach(async () => {
    time = Date.parse('2026-05-01T12:00:00.123Z');
    opened = await engine.open();
    ({ database } = opened);
    accounts = accountsOf(database);
  });

  test('accounts have one owner per handle, whatever its case, and per phone', async () => {
    const created = await accounts.create({ ...anaika, handle: 'Anaika' });
    expect(await accounts.get('ANAIKA')).toEqual(created);
    expect(await accounts.getBySub(created.sub)).toEqual(created);
    await expect(accounts.create({ ...jean, handle: 'anaikA' })).rejects.toThrow('this handle belongs');
    await expect(accounts.create({ ...jean, phone: anaika.phone })).rejects.toThrow('this phone belongs');
    await accounts.create({ ...jean, handle: 'bea' });
    await accounts.create({ ...jean, handle: 'Carla', phone: '+50937000009' });
    const handles = async (after: string) => (await accounts.list({ after })).map(({ handle }) => handle);
    expect(await handles('')).toEqual(['Anaika', 'bea', 'Carla']);
    expect(await handles('ANAIKA')).toEqual(['bea', 'Carla']);
  });

  test('only one of two accounts that claim a handle at the same time gets it', async () => {
    const other = accountsOf(await opened.again());
    const outcomes = await Promise.allSettled([
      accounts.create(anaika),
      other.create({ ...jean, handle: 'ANAIKA' }),
    ]);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(await accounts.list()).toHaveLength(1);
  });

  test('the directory returns the claims of the scopes, fewer to partners, and no blocked user', async () => {
    const { sub, kid } = await accounts.create({
      ...anaika,
      htgBalance: '999999999999999.99',
      usdBalance: '0.05',
      trustScore: 92,
      credentials: [
        { type: 'ended', issuedAt: new Date(time - 10), expiresAt: new Date(time) },
        { type: 'national_id', issuedAt: new Date(time - 9), expiresAt: new Date(time + 1) },
        { type: 'address', issuedAt: new Date(time - 8) },
      ],
    });
    const directory = createDirectory(database, now);
    const plain = await directory.find(sub, new Set(['openid']));
    const createdAt = '2026-05-01T12:00:00.123Z';
    expect(plain).toMatchObject({ sub, kid, role: 'member', country: 'HT', createdAt, trustScore: 92 });
    for (const field of ['htgBalance', 'activeCredentials']) expect(plain).not.toHaveProperty(field);
    const full = await directory.find(sub, new Set(['wallet:balance', 'identity']));
    expect(full).toMatchObject({ ...plain, htgBalance: '999999999999999.99', usdBalance: '0.05' });
    expect(full?.activeCredentials?.map(({ type }) => type)).toEqual(['national_id', 'address']);
    expect(full?.activeCredentials?.[1]).toMatchObject({ type: 'address', expiresAt: null });
    const found = (ofSub = sub, ofKid = kid, phone = anaika.phone) =>
      Promise.all([
        directory.find(ofSub, new Set(['openid'])),
        directory.findByKid(ofKid),
        directory.findByPhone(phone),
      ]);
    expect(await found()).toEqual([plain, plain, plain]);
    expect(await found('usr_unknown', 'KNOBODY', '+50937009999')).toEqual([null, null, null]);
    await accounts.block('ANAIKA');
    expect(await found()).toEqual([null, null, null]);
    expect(await accounts.verify('anaika', anaika.password)).toBeNull();
    await accounts.unblock('anaika');
    expect((await accounts.verify('Anaika', anaika.password))?.kid).toBe(kid);
    expect(await accounts.verify('anaika', jean.password)).toBeNull();
    expect(await accounts.verify('nobody', anaika.password)).toBeNull();
    await expectBalanced(database);
  });

  test('sessions expire after their time, and end when the password changes', async () => {
    const { sub } = await accounts.create(anaika);
    const sessions = createSessions(database, now);
    const elsewhere = createSessions(await opened.again(), now);
    const first = await sessions.start(sub, null);
    const fresh = await sessions.start(sub, await elsewhere.find(first));
    expect(await elsewhere.find(first)).toBeNull();
    expect(await elsewhere.find(fresh)).toMatchObject({ sub, authenticatedAt: new Date(time) });
    time += userSessions.idleMs - 1;
    expect(await elsewhere.find(fresh)).not.toBeNull();
    time += userSessions.idleMs - 1;
    expect(await sessions.find(fresh)).not.toBeNull();
    time += userSessions.idleMs;
    expect(await sessions.find(fresh)).toBeNull();
    const last = await sessions.start(sub, null);
    await accounts.setPassword('anaika', 'another long password');
    expect(await sessions.find(last)).toBeNull();
    time += userSessions.absoluteMs;
    await sessions.start(sub, null);
    expect(await database.get('SELECT count(*) AS n FROM app_sessions')).toEqual({ n: 1 });
  });

  test('the throttle is exact for attempts in several processes, also during a key rotation', async () => {
    const windowMs = 60_000;
    const limits = {
      perHandleAndNetwork: { failures: 3, windowMs },
      perHandle: { failures: 4, windowMs },
      perNetwork: { failures: 5, windowMs },
    };
    const [key, other] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)];
    const throttles = [
      createThrottle(database, [key, other], now, limits),
      createThrottle(await opened.again(), [other, key], now, limits),
    ];
    const admit = async (handle: string, address = '192.0.2.1', browser: string | null = null) => {
      const admissions = await Promise.all(
        throttles.flatMap((throttle) =>
          Array.from({ length: 8 }, () => throttle.admit({ handle, address, browser })),
        ),
      );
      return admissions.filter((admission) => admission.admitted);
    };
    const admitted = await admit('anaika');
    expect(admitted).toHaveLength(3);
    // The refused attempt was not counted: one more is allowed for the handle, two for the network.
    expect(await admit('jean')).toHaveLength(2);
    expect(await admit('anaika', '192.0.2.2')).toHaveLength(1);
    expect(await admit('anaika', '192.0.2.2', 'browser')).toHaveLength(10);
    for (const admission of admitted) await admission.settle('succeeded');
    expect(await admit('anaika', '192.0.2.3')).toHaveLength(3);
    time += windowMs;
    expect(await admit('anaika')).toHaveLength(3);
  });

  test('an attempt of an earlier window does not count in the current one', async () => {
    const perHandleAndNetwork = { failures: 1, windowMs: 60_000 };
    const throttle = createThrottle(database, [new Uint8Array(32)], now, { perHandleAndNetwork });
    const attempt = { handle: 'anaika', address: '192.0.2.1', browser: null };
    const slow = await throttle.admit(attempt);
    time += perHandleAndNetwork.windowMs;
    expect((await throttle.admit(attempt)).admitted).toBe(true);
    if (slow.admitted) await slow.settle('undecided');
    const refused = await throttle.admit(attempt);
    expect(refused).toEqual({ admitted: false, retryAfterSeconds: 60 });
  });

  if (engine.name === 'PostgreSQL') {
    test('a window that begins again while another process removes old ones is kept', async () => {
      const throttle = createThrottle(database, [new Uint8Array(32)], now);
      await throttle.admit({ handle: 'anaika', address: '192.0.2.1', browser: null });
      time += 3_600_000;
      const other = await opened.again();
      const isBlocked = () => other.get('SELECT 1 AS yes FROM pg_locks WHERE NOT granted LIMIT 1');
      let sweeping: Promise<unknown> = Promise.resolve();
      await other.write(
        async (transaction) => {
          await transaction.run('UPDATE app_throttle SET ends_at = :endsAt', { endsAt: time + 60_000 });
          sweeping = throttle.admit({ handle: 'jean', address: '192.0.2.2', browser: null });
          await expect.poll(isBlocked, { interval: 5 }).toEqual({ yes: 1 });
        },
        { patienceMs: 30_000 },
      );
      await sweeping;
      expect(await database.get('SELECT count(*) AS n FROM app_throttle')).toEqual({ n: 6 });
    });
  }

  test('the ledger pays each transfer once and overdraws nothing, over two processes at the same time', async () => {
    const people = [await accounts.create(anaika), await accounts.create(jean)];
    const ledgers = [createLedger(database, now), createLedger(await opened.again(), now)] as const;
    const partners = ['kafe', 'boulanje'];
    await Promise.all(partners.map((partner, at) => ledgers[at === 0 ? 0 : 1].fund(partner, '10.00', 'HTG')));
    const orders = Array.from({ length: 40 }, (_, at) => ({
      id: `tr_${at}`,
      partner: partners[at % 2] ?? '',
      mode: 'live' as const,
      amount: 100n,
      currency: 'HTG' as const,
      recipientKid: people[at % 3 === 0 ? 0 : 1]?.kid ?? '',
      description: null,
      reference: null,
    }));
    const answers = await Promise.all(
      orders.flatMap((order) => ledgers.map((ledger) => ledger.rail.execute(order, { signal }))),
    );
    for (const [at] of orders.entries()) expect(answers[2 * at]).toEqual(answers[2 * at + 1]);
    // Each partner's funds suffice for ten transfers; each of the twenty was requested twice.
    expect(answers.filter(({ status }) => status === 'completed')).toHaveLength(40);
    for (const partner of partners) expect((await ledgers[1].funds(partner)).HTG).toBe(0n);
    const failed = orders.findIndex((_, at) => answers[2 * at]?.status === 'failed');
    const order = orders[failed];
    if (order === undefined) throw new Error('no transfer failed');
    await ledgers[0].fund(order.partner, '10.00', 'HTG');
    // A transfer that was reported as failed stays failed.
    expect(await ledgers[1].rail.execute(order, { signal })).toEqual(answers[2 * failed]);
    await expectBalanced(database);
  });

  test('simultaneous payments in both directions do not deadlock', async () => {
    const { sub } = await accounts.create({ ...anaika, htgBalance: '5000.00' });
    const databases = [database, await opened.again()] as const;
    const [user, partner] = [
      { kind: 'user', sub },
      { kind: 'partner', slug: 'kafe' },
    ] as const;
    await createLedger(database, now).fund('kafe', '5000.00', 'HTG');
    let runs = 0;
    await Promise.all(
      Array.from({ length: 60 }, (_, at) =>
        databases[at % 2 === 0 ? 0 : 1].write((transaction) => {
          runs += 1;
          const [from, to] = at % 3 === 0 ? [user, partner] : [partner, user];
          return post(transaction, {
            ...{ id: `back_and_forth_${at}`, kind: 'funding', from, to },
            ...{ amount: 1n, currency: 'HTG', at: time },
          });
        }),
      ),
    );
    // A deadlock would have caused an additional run.
    expect(runs).toBe(60);
    expect((await createLedger(database, now).funds('kafe')).HTG).toBe(500_000n - 40n + 20n);
    await expectBalanced(database);
  });

  test('the ledger computes exactly up to its maximum balance', async () => {
    const ledger = createLedger(database, now);
    for (let times = 0; times < 90; times += 1) await ledger.fund('kafe', '999999999999999.99', 'HTG');
    await expect(ledger.fund('kafe', '999999999999999.99', 'HTG')).rejects.toThrow(LedgerError);
    const once = () => ledger.fund('diri', '5.00', 'HTG', 'B-1');
    expect(await once()).toEqual({ funds: { HTG: 500n, USD: 0n }, isRepeated: false });
    expect(await once()).toEqual({ funds: { HTG: 500n, USD: 0n }, isRepeated: true });
    await expect(ledger.fund('diri', '5.00', 'USD', 'B-1')).rejects.toThrow(LedgerError);
    expect((await ledger.funds('kafe')).HTG).toBe(8_999_999_999_999_999_910n);
    const { sub, kid } = await accounts.create(anaika);
    const amount = 99_999_999_999_999_999n;
    const order = {
      id: 'tr_1',
      partner: 'kafe',
      mode: 'live',
      amount,
      currency: 'HTG',
      recipientKid: kid,
    } as const;
    const paid = await ledger.rail.execute({ ...order, description: null, reference: null }, { signal });
    expect(paid).toEqual({ status: 'completed' });
    const user = await createDirectory(database, now).find(sub, new Set(['wallet:balance']));
    expect(user?.htgBalance).toBe('999999999999999.99');
    await expectBalanced(database);
  });
});
