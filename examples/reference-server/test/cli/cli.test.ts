import { describe, expect, test } from 'vitest';
import { command, commandProcess, running } from '../support/commands.ts';
import { anaika, environment } from '../support/server.ts';
import { Visitor } from '../support/visitor.ts';

const args = (line: string): string[] => line.split(' ').filter(Boolean);

describe('the commands of Ostiary', () => {
  test('work while a server runs, and show secrets once', async () => {
    const { env, server } = await running();
    const shop = args('--name Shop --redirect-uri https://shop.example/callback --scope openid --scope kyc');
    const created = await command('clients create', [...shop, '--json'], env);
    expect(created.code).toBe(0);
    const { client, clientSecret } = created.json();
    expect(client).toMatchObject({ name: 'Shop', public: false, allowedScopes: ['openid', 'kyc'] });
    expect(await server.installation.ostiary.admin.clients.get(client.clientId)).toEqual(client);
    const listed = await commandProcess('clients list', [], env);
    expect(listed.output).toContain(client.clientId);
    expect(listed.output).not.toContain(clientSecret);
  });

  test('say how to name an installation if none is configured', async () => {
    const { OSTIARY_DATA_DIR } = await environment();
    const result = await command('clients list', [], { OSTIARY_DATA_DIR });
    expect(result.code).toBe(1);
    expect(result.errors).toMatch(/^no installation found: .*\n$/);
  });

  test('are listed together with the commands of this server', async () => {
    const help = await command('help', [], {});
    expect(help.code).toBe(0);
    const names = 'users, partners, keys, passport, move, migrate, doctor, backup'.split(', ');
    for (const name of names) expect(help.output).toMatch(new RegExp(`^  ${name} `, 'm'));
    expect(help.output).toMatch(/^ {2}partners .*create[\s\S]*fund, funds$/m);
  });
});

const create = ['--handle', 'anaika', '--name', anaika.name, '--phone', anaika.phone];

describe('ostiary users', () => {
  test('creates a user with a password from standard input, who can sign in at once', async () => {
    const { env, origin } = await running();
    const more = args('--kyc-status approved --kyc-tier 2 --htg-balance 1250.00 --email anaika@example.com');
    const created = await commandProcess('users create', [...create, ...more], env, `${anaika.password}\n`);
    expect(created).toMatchObject({ code: 0, errors: '' });
    expect(created.output).not.toContain(anaika.password);
    expect((await new Visitor(origin).signIn('anaika', anaika.password)).status).toBe(303);
    const listed = await command('users list', ['--json'], env);
    const email = 'anaika@example.com';
    expect(listed.json().users).toMatchObject([
      { handle: 'anaika', kycStatus: 'approved', kycTier: 2, email },
    ]);
  });

  test('changes and removes the address for notices', async () => {
    const { env, server } = await running();
    await server.installation.accounts.create(anaika);
    const emailOf = async () => (await command('users show', ['anaika', '--json'], env)).json().email;
    expect(await emailOf()).toBeNull();
    for (const email of ['anaika@example.com', 'a.pierre@example.com']) {
      expect((await command('users set-email', ['ANAIKA', '--email', email], env)).code).toBe(0);
      expect(await emailOf()).toBe(email);
    }
    expect((await command('users set-email', ['anaika', '--remove'], env)).code).toBe(0);
    expect(await emailOf()).toBeNull();
  });

  test('blocks a user, and ends the sessions at once, like a password change', async () => {
    const { env, server, origin } = await running();
    const { accounts } = server.installation;
    const { sub } = await accounts.create(anaika);
    const visitor = new Visitor(origin);
    const isSignedOut = async () => expect((await visitor.get('/')).html).toContain('href="/login"');
    await visitor.signIn('anaika', anaika.password);
    expect((await command('users block', ['--yes', 'anaika'], env)).code).toBe(0);
    await isSignedOut();
    expect((await visitor.signIn('anaika', anaika.password)).status).toBe(422);
    expect((await accounts.getBySub(sub))?.blockedAt).not.toBeNull();
    expect((await command('users unblock', ['anaika'], env)).code).toBe(0);
    expect((await visitor.signIn('anaika', anaika.password)).status).toBe(303);
    const changed = await command('users set-password', ['anaika'], env, 'a new long password\r\n');
    expect(changed.code).toBe(0);
    await isSignedOut();
    expect((await visitor.signIn('anaika', 'a new long password')).status).toBe(303);
  });

  test('writes every action into the audit log, and never a password', async () => {
    const { env } = await running();
    for (const [name, given] of [
      ['users create', [...create, '--htg-balance', '5.00']],
      ['users kyc', ['anaika', '--tier', '2']],
      ['users set-password', ['anaika']],
      ['users set-email', ['anaika', '--email', 'anaika@example.com']],
      ['users block', ['anaika', '--yes']],
      ['users unblock', ['anaika']],
    ] as const) {
      const done = await command(name, [...given, '--actor', 'marie'], env, 'a new long password\n');
      expect(done).toMatchObject({ code: 0, errors: '' });
    }
    const { sub } = (await command('users show', ['anaika', '--json'], env)).json();
    const listed = await command('audit list', ['--target', `user:${sub}`, '--json'], env);
    const { entries }: { entries: { actor: string; action: string; details: object }[] } = listed.json();
    expect(new Set(entries.map(({ actor }) => actor))).toEqual(new Set(['marie']));
    expect(entries.map(({ action }) => action).toSorted()).toEqual([
      ...['user.block', 'user.create', 'user.end', 'user.kyc'],
      ...['user.set_email', 'user.set_password', 'user.unblock'],
    ]);
    expect(entries.at(-1)?.details).toMatchObject({ handle: 'anaika', htgBalance: '5.00' });
    expect(listed.output).not.toMatch(/password"?:|a new long|\+509|@example/);
  });
});

const typed = 'long enough password';

test.each([
  ['users block', args('nobody --yes'), 'there is no user'],
  ['users set-password', ['nobody'], 'there is no user'],
  ['users set-email', args('nobody --remove'), 'there is no user'],
  ['users kyc', args('nobody --tier 1'), 'there is no user'],
  ['users show', ['nobody'], 'there is no user'],
  ['partners fund', args('nobody --amount 1.00 --currency HTG'), 'there is no partner nobody'],
  ['partners funds', ['nobody'], 'there is no partner nobody'],
  ['passport', ['nobody'], 'there is no user'],
])('%s %j ends with exit code 3: there is none', async (name, given, message) => {
  const result = await command(name, given, await environment(), typed);
  expect(result).toMatchObject({ code: 3, output: '', errors: expect.stringContaining(message) });
});

test.each([
  ['users create', create, '', 'a password is expected'],
  ['users create', create, 'short\n', 'password must have at least 10'],
  ['users create', create, `${'x'.repeat(5_000)}\n`, 'is longer than 4096 characters'],
  ['users create', [...create, '--password', 'secret'], '', "unknown option '--password'"],
  ['users create', [...create, '--kyc-status', 'maybe'], typed, '--kyc-status must be'],
  ['users set-email', ['anaika'], '', 'give either --email or --remove'],
  ['users set-email', args('anaika --email a@b.ht --remove'), '', 'give either --email or --remove'],
  ['users set-email', args('anaika --email a@b'), '', 'must be an e-mail address'],
  ['users kyc', ['anaika'], '', '--status or --tier is missing'],
  ['users kyc', args('anaika --status maybe'), '', '--status must be'],
  ['users kyc', args('anaika --tier 4'), '', '--tier must be 0 to 3'],
  ['users kyc', args('--tier 1'), '', '<handle> is missing'],
  ['partners fund', args('kafe --amount 1.00 --currency EUR'), '', '--currency must be HTG or USD'],
  ['partners fund', args('kafe --currency HTG'), '', '--amount is missing'],
  ['passport', [], '', '<handle> is missing'],
  ['clients disable', ['nobody'], '', 'run it at a terminal, or with --yes'],
])('%s %j is refused with exit code 2 and a clear line', async (name, given, input, message) => {
  const result = await command(name, given, await environment(), input);
  expect(result).toMatchObject({ code: 2, output: '' });
  expect(result.errors).toContain(message);
  expect(result.errors).not.toMatch(/\n\s+at /);
});
