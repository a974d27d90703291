import { describe, expect, test } from 'vitest';
import { createIdentityChecks } from '../../src/users/identity-checks.ts';
import { command, running } from '../support/commands.ts';
import { connectionOf } from '../support/database.ts';
import { approve, createPartner, receiver } from '../support/partners.ts';
import { anaika } from '../support/server.ts';
import { Visitor } from '../support/visitor.ts';

/**
 * Starts a server with a user who shares `kyc` with one partner, another scope with a second, and nothing
 * with a third.
 */
async function withConsents() {
  const { env, server, origin } = await running();
  const account = await server.installation.accounts.create({ ...anaika, kycStatus: 'pending', kycTier: 1 });
  const [told, other, stranger] = [
    await createPartner(server, 'told'),
    await createPartner(server, 'other'),
    await createPartner(server, 'stranger'),
  ];
  const visitor = new Visitor(origin);
  await visitor.signIn(anaika.handle, anaika.password);
  await approve(visitor, told.clientId, 'openid kyc');
  await approve(visitor, other.clientId, 'openid');
  const countsOf = async () =>
    Promise.all([told, other, stranger].map(async (partner) => (await partner.events()).length));
  return { env, server, account, told, other, stranger, visitor, countsOf };
}

describe('ostiary users kyc', () => {
  test('changes the user and notifies only partners with consent to kyc', async () => {
    const { env, server, account, told, countsOf } = await withConsents();
    const { url, received } = await receiver();
    expect((await told.register(url)).status).toBe(201);
    const changed = await command('users kyc', ['anaika', '--status', 'approved', '--tier', '2'], env);
    expect(changed).toMatchObject({ code: 0, output: 'anaika is approved (tier 2). Notified: told.\n' });
    expect(await server.installation.accounts.get('anaika')).toMatchObject({
      kycStatus: 'approved',
      kycTier: 2,
    });
    expect(await countsOf()).toEqual([1, 0, 0]);
    const data = {
      kid: account.kid,
      kycStatus: 'approved',
      kycTier: 2,
      previous: { kycStatus: 'pending', kycTier: 1 },
      changedAt: expect.stringMatching(/^\d{4}-.*Z$/),
    };
    expect(await told.events()).toMatchObject([{ type: 'kyc.updated', data }]);
    // The command has ended; the server's worker delivers the event that it published.
    await expect.poll(() => received.length).toBe(1);
    expect(JSON.parse(String(received[0]?.body))).toMatchObject({ type: 'kyc.updated', mode: 'live', data });
  });

  test('does not notify partners if nothing changes, or if the consent was revoked', async () => {
    const { env, account, server, countsOf } = await withConsents();
    const same = await command('users kyc', ['anaika', '--status', 'pending', '--json'], env);
    expect(same.json()).toMatchObject({ user: { kycStatus: 'pending', kycTier: 1 }, events: [] });
    await server.installation.ostiary.users.end(account.sub);
    const changed = await command('users kyc', ['anaika', '--tier', '3'], env);
    expect(changed.output).toBe('anaika is pending (tier 3). Notified: no partner.\n');
    expect(await countsOf()).toEqual([0, 0, 0]);
  });
});

describe('the transaction', () => {
  test('rolls back the event together with the change', async () => {
    const { server, countsOf, account } = await withConsents();
    const { database, accounts, ostiary } = server.installation;
    const connection = connectionOf(database);
    const breaking = createIdentityChecks(database, accounts, (change, options) => {
      const published = ostiary.users.kycChanged(change, options);
      // The event exists, but only within this transaction.
      const count = connection.prepare('SELECT count(*) FROM events').pluck();
      expect(count.get()).toBe(1);
      published.catch(() => undefined);
      throw new Error('something else in the transaction failed');
    });
    await expect(breaking.change('anaika', { kycTier: 3 })).rejects.toThrow('something else');
    expect(await accounts.get('anaika')).toEqual(account);
    expect(await countsOf()).toEqual([0, 0, 0]);
  });

  test('rolls back the change if the event cannot be written', async () => {
    const { server, countsOf, account } = await withConsents();
    const { database, accounts, identityChecks } = server.installation;
    const connection = connectionOf(database);
    connection.exec("CREATE TRIGGER full BEFORE INSERT ON events BEGIN SELECT RAISE(ABORT, 'no room'); END");
    await expect(identityChecks.change('anaika', { kycTier: 3 })).rejects.toThrow('no room');
    expect(await accounts.get('anaika')).toEqual(account);
    connection.exec('DROP TRIGGER full');
    expect((await identityChecks.change('anaika', { kycTier: 3 })).events).toHaveLength(1);
    expect(await countsOf()).toEqual([1, 0, 0]);
    // Members that are not given stay as they are.
    const changed = await identityChecks.change('anaika', { kycStatus: 'rejected' });
    expect(changed.account).toMatchObject({ kycStatus: 'rejected', kycTier: 3 });
  });
});
