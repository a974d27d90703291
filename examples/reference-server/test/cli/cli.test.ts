import { describe, expect, test } from 'vitest';
import { command, commandProcess, running } from '../support/commands.ts';
import { anaika, environment } from '../support/server.ts';
import { Visitor } from '../support/visitor.ts';

const shop = [
  '--name',
  'Shop',
  '--redirect-uri',
  'https://shop.example/callback',
  '--scope',
  'openid',
  '--scope',
  'kyc',
];

describe('ostiary clients', () => {
  test('creates a client on a running installation and shows its secret once', async () => {
    const { env, server } = await running();
    const created = await commandProcess('clients create', [...shop, '--json'], env);
    expect(created.code).toBe(0);
    const { client, clientSecret } = created.json();
    expect(clientSecret).toMatch(/^[A-Za-z0-9_-]{43,}$/);
    expect(client).toMatchObject({ name: 'Shop', public: false, allowedScopes: ['openid', 'kyc'] });
    expect(await server.installation.ostiary.admin.clients.get(client.clientId)).toEqual(client);
    const listed = await commandProcess('clients list', [], env);
    expect(listed.output).toContain(client.clientId);
    const shown = await command('clients show', [client.clientId], env);
    expect(shown.output).toContain('https://shop.example/callback');
    expect(listed.output + shown.output).not.toContain(clientSecret);
  });

  test('creates public clients without a secret', async () => {
    const { env } = await running();
    const created = await command(
      'clients create',
      [...shop, '--public', '--client-id', 'spa', '--first-party'],
      env,
    );
    expect(created.output).toContain('public, first-party');
    expect(created.output).not.toContain('client_secret');
  });

  test('gives a client to a partner that exists', async () => {
    const { env, server } = await running();
    const { admin } = server.installation.ostiary;
    await admin.partners.create({ slug: 'kafe', name: 'Kafe' });
    const created = await command('clients create', [...shop, '--partner', 'kafe', '--json'], env);
    expect(created.json().client.partner).toBe('kafe');
    const nobodys = await command('clients create', [...shop, '--partner', 'nobody'], env);
    expect(nobodys).toMatchObject({ code: 2, output: '' });
    expect(nobodys.errors).toContain('there is no partner nobody');
    const { clientId } = created.json().client;
    await expect(admin.clients.update(clientId, { partner: 'nobody' })).rejects.toThrow('no partner nobody');
    expect((await admin.clients.update(clientId, { name: 'Other' })).partner).toBe('kafe');
    expect((await admin.clients.update(clientId, { partner: null })).partner).toBeNull();
  });

  test('disables, enables and rotates', async () => {
    const { env, server } = await running();
    const { clients } = server.installation.ostiary.admin;
    const { client, clientSecret } = await clients.create({
      name: 'Shop',
      redirectUris: ['https://shop.example/callback'],
      allowedScopes: ['openid'],
    });
    expect((await command('clients disable', ['--yes', client.clientId], env)).code).toBe(0);
    expect((await clients.get(client.clientId))?.disabledAt).not.toBeNull();
    expect((await command('clients enable', [client.clientId], env)).code).toBe(0);
    expect((await clients.get(client.clientId))?.disabledAt).toBeNull();
    const rotated = await command(
      'clients rotate-secret',
      [client.clientId, '--overlap', '60', '--json'],
      env,
    );
    expect(rotated.json().clientSecret).not.toBe(clientSecret);
    expect((await clients.get(client.clientId))?.secrets).toHaveLength(2);
  });

  test.each([
    ['no command', '', [], 'ostiary <command> [options]'],
    ['an unknown command', 'clients creat', [], 'there is no command "clients creat"'],
    ['an unknown flag', 'clients create', ['--colour', 'red'], 'there is no flag --colour here'],
    ['an unknown scope', 'clients create', [...shop, '--scope', 'all'], 'allowedScopes'],
    ['no client id', 'clients disable', ['--yes'], 'expected <client id>'],
    ['an unknown client', 'clients disable', ['nobody', '--yes'], 'nobody'],
    ['to end what nobody confirms', 'clients disable', ['nobody'], 'run it at a terminal, or with --yes'],
  ])('refuses %s with exit code 2 and a clear line', async (_, name, args, message) => {
    const result = await (name === '' ? commandProcess : command)(name, args, await environment());
    expect(result.code).toBe(2);
    expect(result.errors).toContain(message);
    expect(result.errors).not.toMatch(/\n\s+at /);
    expect(result.output).toBe('');
  });

  test('says where to find an installation when there is none', async () => {
    const { OSTIARY_DATA_DIR } = await environment();
    const result = await commandProcess('clients list', [], { OSTIARY_DATA_DIR });
    expect(result.code).toBe(1);
    expect(result.errors).toMatch(/^no installation found: .*\n$/);
  });

  test('explains itself', async () => {
    const help = await commandProcess('help', [], {});
    expect(help.code).toBe(0);
    for (const name of [
      'users create',
      'partners fund',
      'passport',
      'move',
      'migrate',
      'doctor',
      'keys issue',
    ])
      expect(help.output).toContain(`  ${name}`);
  });
});

describe('ostiary users', () => {
  const create = ['--handle', 'anaika', '--name', anaika.name, '--phone', anaika.phone];

  test('creates a user with a password from standard input, who can sign in at once', async () => {
    const { env, origin } = await running();
    const args = [...create, '--kyc-status', 'approved', '--kyc-tier', '2', '--htg-balance', '1250.00'];
    const created = await commandProcess('users create', args, env, `${anaika.password}\n`);
    expect(created).toMatchObject({ code: 0, errors: '' });
    expect(created.output).not.toContain(anaika.password);
    expect((await new Visitor(origin).signIn('anaika', anaika.password)).status).toBe(303);
    const listed = await command('users list', ['--json'], env);
    expect(listed.json().users).toMatchObject([{ handle: 'anaika', kycStatus: 'approved', kycTier: 2 }]);
  });

  test('blocks a user: sessions and consents end at once', async () => {
    const { env, server, origin } = await running();
    const { accounts, ostiary } = server.installation;
    const { sub } = await accounts.create(anaika);
    const visitor = new Visitor(origin);
    await visitor.signIn('anaika', anaika.password);
    const blocked = await command('users block', ['--yes', 'anaika'], env);
    expect(blocked.code).toBe(0);
    expect((await visitor.get('/')).html).toContain('href="/login"');
    expect((await visitor.signIn('anaika', anaika.password)).status).toBe(422);
    expect((await accounts.getBySub(sub))?.blockedAt).not.toBeNull();
    await ostiary.ready();
    expect((await command('users unblock', ['anaika'], env)).code).toBe(0);
    expect((await visitor.signIn('anaika', anaika.password)).status).toBe(303);
  });

  test('writes down who did what to whom, and never a password', async () => {
    const { env } = await running();
    const actor = ['--actor', 'marie'];
    await command(
      'users create',
      [...create, ...actor, '--htg-balance', '5.00'],
      env,
      `${anaika.password}\n`,
    );
    const acts = [
      ['users kyc', ['anaika', '--tier', '2']],
      ['users set-password', ['anaika']],
      ['users block', ['anaika', '--yes']],
      ['users unblock', ['anaika']],
    ] as const;
    for (const [name, args] of acts) {
      const done = await command(name, [...args, ...actor], env, 'a new long password\n');
      expect(done).toMatchObject({ code: 0, errors: '' });
    }
    const shown = await command('users show', ['anaika', '--json'], env);
    const listed = await command('audit list', ['--target', `user:${shown.json().sub}`, '--json'], env);
    const { entries } = listed.json();
    expect(new Set(entries.map((entry: { actor: string }) => entry.actor))).toEqual(new Set(['marie']));
    expect(entries.map((entry: { action: string }) => entry.action).toSorted()).toEqual([
      ...['user.block', 'user.create', 'user.end', 'user.kyc', 'user.set_password', 'user.unblock'],
    ]);
    expect(entries.at(-1).details).toMatchObject({ handle: 'anaika', htgBalance: '5.00' });
    expect(listed.output).not.toMatch(/password"?:|correct horse|a new long|\+509/);
  });

  test('changes a password and ends the sessions of the old one', async () => {
    const { env, server, origin } = await running();
    await server.installation.accounts.create(anaika);
    const visitor = new Visitor(origin);
    await visitor.signIn('anaika', anaika.password);
    const changed = await command('users set-password', ['anaika'], env, 'a new long password\r\n');
    expect(changed.code).toBe(0);
    expect((await visitor.get('/')).html).toContain('href="/login"');
    expect((await visitor.signIn('anaika', 'a new long password')).status).toBe(303);
  });

  test.each([
    ['no password', 'users create', create, '', 'a password is expected'],
    ['a short password', 'users create', create, 'short\n', 'password must have at least 10'],
    [
      'a password as an argument',
      'users create',
      [...create, '--password', 'secret'],
      '',
      'there is no flag --password here',
    ],
    [
      'an unknown status',
      'users create',
      [...create, '--kyc-status', 'maybe'],
      'long enough password',
      '--kyc-status must be',
    ],
    ['an unknown user', 'users block', ['nobody', '--yes'], '', 'there is no user'],
    ['a password for nobody', 'users set-password', ['nobody'], 'long enough password', 'there is no user'],
  ])('refuses %s with exit code 2', async (_, name, args, input, message) => {
    const result = await command(name, args, await environment(), input);
    expect(result.code).toBe(2);
    expect(result.errors).toContain(message);
    expect(result.errors).not.toMatch(/\n\s+at /);
  });
});
