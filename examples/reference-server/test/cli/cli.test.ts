import { describe, expect, test } from 'vitest';
import { command, running } from '../support/commands.ts';
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

describe('npm run client', () => {
  test('creates a client on a running installation and shows its secret once', async () => {
    const { env, server } = await running();
    const created = await command('client', ['create', ...shop, '--json'], env);
    expect(created.code).toBe(0);
    const { client, clientSecret } = created.json();
    expect(clientSecret).toMatch(/^[A-Za-z0-9_-]{43,}$/);
    expect(client).toMatchObject({ name: 'Shop', public: false, allowedScopes: ['openid', 'kyc'] });
    expect(await server.installation.ostiary.admin.clients.get(client.clientId)).toEqual(client);
    const listed = await command('client', ['list'], env);
    expect(listed.output).toContain(client.clientId);
    const shown = await command('client', ['show', client.clientId], env);
    expect(shown.output).toContain('https://shop.example/callback');
    expect(listed.output + shown.output).not.toContain(clientSecret);
  });

  test('creates public clients without a secret', async () => {
    const { env } = await running();
    const created = await command(
      'client',
      ['create', ...shop, '--public', '--client-id', 'spa', '--first-party'],
      env,
    );
    expect(created.output).toContain('public, first-party');
    expect(created.output).not.toContain('client_secret');
  });

  test('gives a client to a partner that exists', async () => {
    const { env, server } = await running();
    const { admin } = server.installation.ostiary;
    await admin.partners.create({ slug: 'kafe', name: 'Kafe' });
    const created = await command('client', ['create', ...shop, '--partner', 'kafe', '--json'], env);
    expect(created.json().client.partner).toBe('kafe');
    const nobodys = await command('client', ['create', ...shop, '--partner', 'nobody'], env);
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
    expect((await command('client', ['disable', client.clientId], env)).code).toBe(0);
    expect((await clients.get(client.clientId))?.disabledAt).not.toBeNull();
    expect((await command('client', ['enable', client.clientId], env)).code).toBe(0);
    expect((await clients.get(client.clientId))?.disabledAt).toBeNull();
    const rotated = await command(
      'client',
      ['rotate-secret', client.clientId, '--overlap', '60', '--json'],
      env,
    );
    expect(rotated.json().clientSecret).not.toBe(clientSecret);
    expect((await clients.get(client.clientId))?.secrets).toHaveLength(2);
  });

  test.each([
    ['no command', [], 'npm run client'],
    ['an unknown command', ['creat'], 'there is no command "creat"'],
    ['an unknown flag', ['create', '--colour', 'red'], "'--colour'"],
    [
      'a missing name',
      ['create', '--redirect-uri', 'https://a.example/', '--scope', 'openid'],
      '--name is missing',
    ],
    [
      'a missing scope',
      ['create', '--name', 'x', '--redirect-uri', 'https://a.example/'],
      '--scope is missing',
    ],
    [
      'an unknown scope',
      ['create', '--name', 'x', '--redirect-uri', 'https://a.example/', '--scope', 'all'],
      'allowedScopes',
    ],
    [
      'a bad address',
      ['create', '--name', 'x', '--redirect-uri', 'http://a.example/', '--scope', 'openid'],
      'edirect',
    ],
    [
      'an unknown algorithm',
      ['create', ...shop, '--id-token-alg', 'none'],
      '--id-token-alg must be RS256 or ES256',
    ],
    ['no client id', ['disable'], 'expected <client id>'],
    ['an unknown client', ['disable', 'nobody'], 'nobody'],
    ['one argument too many', ['list', 'x'], 'unexpected argument "x"'],
    [
      'an overlap that is no number',
      ['rotate-secret', 'x', '--overlap', 'long'],
      '--overlap must be a whole number',
    ],
  ])('refuses %s with exit code 2 and a clear line', async (_, args, message) => {
    const result = await command('client', args, await environment());
    expect(result.code).toBe(2);
    expect(result.errors).toContain(message);
    expect(result.errors).not.toMatch(/\n\s+at /);
    expect(result.output).toBe('');
  });

  test('says where to find an installation when there is none', async () => {
    const { OSTIARY_DATA_DIR } = await environment();
    const result = await command('client', ['list'], { OSTIARY_DATA_DIR });
    expect(result.code).toBe(1);
    expect(result.errors).toMatch(/^no installation found: .*\n$/);
  });

  test('explains itself', async () => {
    const help = await command('client', ['--help'], {});
    expect(help.code).toBe(0);
    expect(help.output).toContain('rotate-secret');
  });
});

describe('npm run user', () => {
  const create = ['create', '--handle', 'anaika', '--name', anaika.name, '--phone', anaika.phone];

  test('creates a user with a password from standard input, who can sign in at once', async () => {
    const { env, origin } = await running();
    const args = [...create, '--kyc-status', 'approved', '--kyc-tier', '2', '--htg-balance', '1250.00'];
    const created = await command('user', args, env, `${anaika.password}\n`);
    expect(created).toMatchObject({ code: 0, errors: '' });
    expect(created.output).not.toContain(anaika.password);
    expect((await new Visitor(origin).signIn('anaika', anaika.password)).status).toBe(303);
    const listed = await command('user', ['list', '--json'], env);
    expect(listed.json().users).toMatchObject([{ handle: 'anaika', kycStatus: 'approved', kycTier: 2 }]);
  });

  test('blocks a user: sessions and consents end at once', async () => {
    const { env, server, origin } = await running();
    const { accounts, ostiary } = server.installation;
    const { sub } = await accounts.create(anaika);
    const visitor = new Visitor(origin);
    await visitor.signIn('anaika', anaika.password);
    const blocked = await command('user', ['block', 'anaika'], env);
    expect(blocked.code).toBe(0);
    expect((await visitor.get('/')).html).toContain('href="/login"');
    expect((await visitor.signIn('anaika', anaika.password)).status).toBe(422);
    expect((await accounts.getBySub(sub))?.blockedAt).not.toBeNull();
    await ostiary.ready();
    expect((await command('user', ['unblock', 'anaika'], env)).code).toBe(0);
    expect((await visitor.signIn('anaika', anaika.password)).status).toBe(303);
  });

  test('changes a password and ends the sessions of the old one', async () => {
    const { env, server, origin } = await running();
    await server.installation.accounts.create(anaika);
    const visitor = new Visitor(origin);
    await visitor.signIn('anaika', anaika.password);
    const changed = await command('user', ['set-password', 'anaika'], env, 'a new long password\r\n');
    expect(changed.code).toBe(0);
    expect((await visitor.get('/')).html).toContain('href="/login"');
    expect((await visitor.signIn('anaika', 'a new long password')).status).toBe(303);
  });

  test.each([
    ['no password', create, '', 'a password is expected'],
    ['a short password', create, 'short\n', 'password must have at least 10'],
    ['a password as an argument', [...create, '--password', 'secret'], '', "'--password'"],
    [
      'an unknown status',
      [...create, '--kyc-status', 'maybe'],
      'long enough password',
      '--kyc-status must be',
    ],
    ['an unknown user', ['block', 'nobody'], '', 'there is no user'],
    ['a password for nobody', ['set-password', 'nobody'], 'long enough password', 'there is no user'],
  ])('refuses %s with exit code 2', async (_, args, input, message) => {
    const result = await command('user', args, await environment(), input);
    expect(result.code).toBe(2);
    expect(result.errors).toContain(message);
    expect(result.errors).not.toMatch(/\n\s+at /);
  });
});
