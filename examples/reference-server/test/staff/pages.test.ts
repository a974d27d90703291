import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto';
import { isoCBOR } from '@simplewebauthn/server/helpers';
import { describe, expect, test } from 'vitest';
import { command } from '../support/commands.ts';
import { startServer } from '../support/server.ts';
import { codeOf, csrfOf, formOf, joined, password, staffSignIn, startForStaff } from '../support/staff.ts';
import { Visitor } from '../support/visitor.ts';

const minute = 60_000;

test('the sign-in page says that the code may stay empty where it may: on a loopback address', async () => {
  for (const [changes, isOptional] of [
    [{}, true],
    [{ OSTIARY_AUTH_URL: 'https://id.example' }, false],
  ] as const) {
    const { origin } = await startForStaff(changes);
    const page = await (await fetch(`${origin}/staff/login`)).text();
    expect(page).toContain('Six digits from your app');
    expect(page.includes('leave it empty')).toBe(isOptional);
  }
});

describe('an invitation', () => {
  test('of the command line leads to the pages for operators, and every step is audited', async () => {
    const kit = await startForStaff();
    const told = await command('staff invite', ['ana@example.com', '--role', 'admin', '--json'], kit.env);
    expect(told.code).toBe(0);
    const { url } = told.json();
    expect(url).toMatch(/\/staff\/join\?link=[\w-]{43}$/);
    const browser = new Visitor(kit.origin);
    const page = await browser.get(new URL(url).pathname + new URL(url).search);
    expect(page.status).toBe(200);
    expect(page.html).toContain('ana@example.com');
    const secret = /class="token">([A-Z2-7]+)</.exec(page.html)?.[1] ?? '';
    const fields = { ...formOf(page.html, '/staff/join'), password };
    const wrong = await browser.post('/staff/join', { ...fields, code: '000000' });
    expect([wrong.status, wrong.html.includes('That code is wrong')]).toEqual([422, true]);
    const answer = await browser.post('/staff/join', { ...fields, code: codeOf(secret, Date.now()) });
    expect(answer.html.match(/<li><code>/g)).toHaveLength(10);
    const operators = await browser.get('/operators');
    expect([operators.status, operators.html.includes('ana@example.com')]).toEqual([200, true]);
    expect(operators.html).toContain('<a href="/staff"><bdi>ana@example.com');
    const own = (await kit.acts()).filter((act) => act.startsWith('ana@example.com'));
    expect(own).toEqual(['ana@example.com admin staff.join', 'ana@example.com admin staff.sign_in']);
    expect((await kit.acts()).some((act) => act.endsWith(' staff.invite'))).toBe(true);
  });

  test('is over once it was used, replaced or is a day old', async () => {
    const kit = await startForStaff();
    const { link } = await joined(kit, 'ana@example.com', 'owner');
    const stranger = new Visitor(kit.origin);
    for (const path of [link, '/staff/join', '/staff/join?link=x', `/staff/join?link=${'A'.repeat(43)}`])
      expect.soft([path, (await stranger.get(path)).status]).toEqual([path, 410]);
    const late = await kit.invite('bob@example.com', 'viewer');
    const page = await stranger.get(late);
    kit.advance(24 * 60 * minute);
    const secret = /class="token">([A-Z2-7]+)</.exec(page.html)?.[1] ?? '';
    const code = codeOf(secret, kit.now());
    const answer = await stranger.post('/staff/join', {
      ...formOf(page.html, '/staff/join'),
      password,
      code,
    });
    expect(answer.status).toBe(410);
    expect((await kit.server.installation.staff.require('bob@example.com')).hasJoined).toBe(false);
  });

  test('is taken only from the page that this browser was shown', async () => {
    const kit = await startForStaff();
    const link = await kit.invite('ana@example.com', 'owner');
    const [browser, other] = [new Visitor(kit.origin), new Visitor(kit.origin)];
    const page = await browser.get(link);
    await other.get(link);
    const secret = /class="token">([A-Z2-7]+)</.exec(page.html)?.[1] ?? '';
    const fields = { ...formOf(page.html, '/staff/join'), password, code: codeOf(secret, kit.now()) };
    expect((await other.post('/staff/join', fields)).status).toBe(403);
    expect((await browser.post('/staff/join', { ...fields, csrf: '' })).status).toBe(403);
    const foreign = { origin: 'https://evil.example' };
    expect((await browser.post('/staff/join', fields, foreign)).status).toBe(403);
    expect((await browser.post('/staff/join', { ...fields, password: 'short' })).status).toBe(422);
    expect((await browser.post('/staff/join', fields)).status).toBe(200);
    expect((await browser.post('/staff/join', fields)).status).toBe(410);
  });
});

describe('staff', () => {
  test('sign in with password and code, each code once, and return to the page', async () => {
    const kit = await startForStaff();
    const { secret, code, recovery } = await joined(kit, 'ana@example.com', 'owner');
    const browser = new Visitor(kit.origin);
    const asked = await browser.get('/operators/partners?after=x');
    expect(asked.location).toBe(
      `${kit.origin}/staff/login?return_to=${encodeURIComponent('/operators/partners?after=x')}`,
    );
    const email = 'ana@example.com';
    expect((await staffSignIn(browser, { email, code })).status).toBe(422);
    kit.advance(30_000);
    const next = codeOf(secret, kit.now());
    const query = `?return_to=${encodeURIComponent('/operators/audit')}`;
    const answer = await staffSignIn(browser, { email, code: next }, query);
    expect(answer.location).toBe(`${kit.origin}/operators/audit`);
    const again = new Visitor(kit.origin);
    expect((await staffSignIn(again, { email, code: next })).status).toBe(422);
    expect((await staffSignIn(again, { email, code: recovery[0] ?? '' })).status).toBe(303);
    expect((await staffSignIn(again, { email, code: recovery[0] ?? '' }, '?again=1')).status).toBe(422);
    const evil = await staffSignIn(
      again,
      { email, code: recovery[1] ?? '' },
      '?again=1&return_to=//evil.example',
    );
    expect(evil.location).toBe(`${kit.origin}/`);
    expect((await kit.acts()).filter((act) => act === `${email} owner staff.sign_in`)).toHaveLength(4);
  });

  test('twice with one form lead on, if the button was pressed again while the next page was loading', async () => {
    const kit = await startForStaff();
    const { recovery } = await joined(kit, 'ana@example.com', 'owner');
    const browser = new Visitor(kit.origin);
    const fields = formOf((await browser.get('/staff/login')).html, '/staff/login');
    const form = { ...fields, email: 'ana@example.com', password, code: recovery[0] ?? '' };
    for (const _ of [1, 2])
      expect(await browser.post('/staff/login', form)).toMatchObject({
        status: 303,
        location: `${kit.origin}/operators`,
      });
    expect((await browser.post('/staff/login', { ...form, email: 'eva@example.com' })).status).toBe(403);
  });

  test('are not users, and users are not staff', async () => {
    const { server, origin } = await startServer({}, { OSTIARY_OPERATORS: 'on' });
    const browser = new Visitor(origin);
    await browser.signIn('anaika', 'correct horse battery');
    expect((await browser.get('/operators')).location).toContain('/staff/login');
    const wrong = await staffSignIn(browser, {
      email: 'anaika',
      password: 'correct horse battery',
      code: '',
    });
    expect(wrong.status).toBe(422);
    expect(await server.installation.staff.list()).toEqual([]);
  });

  test('are slowed down when they guess, and do not slow down each other', async () => {
    const kit = await startForStaff({ OSTIARY_TRUSTED_PROXIES: '127.0.0.1, ::1' });
    const { recovery } = await joined(kit, 'ana@example.com', 'owner');
    const email = 'ana@example.com';
    const from = (address: string) => new Visitor(kit.origin, { 'X-Forwarded-For': address });
    const stranger = from('203.0.113.7');
    const statuses: number[] = [];
    for (let guess = 0; guess < 11; guess += 1)
      statuses.push((await staffSignIn(stranger, { email, code: '000000' })).status);
    expect(statuses).toEqual([...Array(10).fill(422), 429]);
    expect((await staffSignIn(from('198.51.100.3'), { email, code: recovery[0] ?? '' })).status).toBe(303);
  });

  test('have sessions that end when idle, after half a day, on sign-out, and when disabled', async () => {
    const kit = await startForStaff();
    const { browser: owner } = await joined(kit, 'ana@example.com', 'owner');
    const { browser, recovery } = await joined(kit, 'bob@example.com', 'admin');
    const status = async (visitor: Visitor) => (await visitor.get('/operators')).status;
    expect([await status(owner), await status(browser)]).toEqual([200, 200]);
    const line = (await browser.get('/staff')).headers.getSetCookie().join();
    expect(line).not.toContain('ostiary_session');
    await kit.server.installation.staff.disable('bob@example.com');
    expect(await status(browser)).toBe(303);
    expect((await staffSignIn(browser, { email: 'bob@example.com', code: recovery[0] ?? '' })).status).toBe(
      422,
    );
    for (let passed = 0; passed < 700; passed += 20) {
      kit.advance(20 * minute);
      expect.soft([passed, await status(owner)]).toEqual([passed, 200]);
    }
    kit.advance(20 * minute);
    expect(await status(owner)).toBe(303);
    const { browser: idle } = await joined(kit, 'eve@example.com', 'viewer');
    kit.advance(31 * minute);
    expect(await status(idle)).toBe(303);
    const { browser: out } = await joined(kit, 'dan@example.com', 'viewer');
    const page = await out.get('/operators');
    expect((await out.post('/staff/sign-out', { csrf: 'x' })).status).toBe(403);
    const action = `${kit.origin}/staff/sign-out`;
    expect((await out.post('/staff/sign-out', formOf(page.html, action))).status).toBe(303);
    expect(await status(out)).toBe(303);
    expect((await kit.acts()).at(-1)).toBe('dan@example.com viewer staff.sign_out');
  });

  test('are asked again before a client is disabled, and a role counts from the next request on', async () => {
    const kit = await startForStaff();
    const { admin, staff } = kit.server.installation;
    await joined(kit, 'root@example.com', 'owner');
    const { browser, recovery } = await joined(kit, 'ana@example.com', 'admin');
    const redirectUris = ['https://app.example/'];
    await admin.clients.create({ clientId: 'app', name: 'App', redirectUris, allowedScopes: ['openid'] });
    kit.advance(11 * minute);
    const shown = await browser.get('/operators/clients/app');
    const csrf = csrfOf((await browser.get('/operators/audit')).html);
    const confirm = '/staff/login?again=1&amp;return_to=%2Foperators%2Fclients%2Fapp';
    expect(shown.html).toContain(confirm);
    const refused = await browser.post('/operators/clients/app', { csrf, act: 'disable' });
    expect(refused.location).toBe(`${kit.origin}${confirm.replace('&amp;', '&')}`);
    expect((await admin.clients.get('app'))?.disabledAt).toBeNull();
    await staffSignIn(browser, { email: 'ana@example.com', code: recovery[0] ?? '' }, '?again=1');
    expect((await browser.post('/operators/clients/app', { csrf, act: 'disable' })).status).toBe(303);
    expect((await admin.clients.get('app'))?.disabledAt).not.toBeNull();
    expect((await kit.acts()).at(-1)).toBe('ana@example.com admin client.disable');
    await staff.changeRole('ana@example.com', 'viewer');
    expect((await browser.post('/operators/clients/app', { csrf, act: 'enable' })).status).toBe(403);
    expect((await browser.get('/operators/users')).status).toBe(403);
  });
});

describe('the commands for staff', () => {
  test('list, change, disable and reset people, and keep the last owner', async () => {
    const kit = await startForStaff();
    await joined(kit, 'ana@example.com', 'owner');
    const run = (line: string) =>
      command(line.split(' ').slice(0, 2).join(' '), line.split(' ').slice(2), kit.env);
    expect((await run('staff invite bob@example.com --role king')).code).toBe(2);
    expect((await run('staff invite bob@example.com --role viewer')).output).toContain('/staff/join?link=');
    expect((await run('staff list')).output).toMatch(
      /ana@example.com +owner[\s\S]*bob@example.com +viewer +invited/,
    );
    expect((await run('staff disable ana@example.com --yes')).errors).toContain('the last owner');
    expect((await run('staff role bob@example.com --role support')).code).toBe(0);
    expect((await run('staff disable bob@example.com --yes')).code).toBe(0);
    expect((await run('staff reset bob@example.com --yes')).output).toContain('/staff/join?link=');
    expect((await run('staff disable nobody@example.com --yes')).code).toBe(3);
    const made = (await kit.acts()).filter((act) => /staff\.(invite|role|disable|reset)$/.test(act));
    expect(made.map((act) => act.split('.').at(-1))).toEqual(['invite', 'role', 'disable', 'reset']);
  });
});

describe('without OSTIARY_OPERATORS', () => {
  test('there are neither pages for operators nor a sign-in of staff', async () => {
    const { origin } = await startServer();
    const browser = new Visitor(origin);
    for (const path of ['/operators', '/staff', '/staff/login', '/staff/join', '/staff.js'])
      expect.soft([path, (await browser.get(path)).status]).toEqual([path, 404]);
  });
});

test('the attestation of a passkey, which may name any URL, is not looked at', async () => {
  const kit = await startForStaff();
  const browser = new Visitor(kit.origin);
  const page = await browser.get(await kit.invite('ana@example.com', 'viewer'));
  const challenge = /challenge&quot;:&quot;([\w-]+)/.exec(page.html)?.[1] ?? '';
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
  const bytes = (text: string) => new Uint8Array(Buffer.from(text, 'base64url'));
  const key = isoCBOR.encode(
    new Map<number, number | Uint8Array>([
      ...([
        [1, 2],
        [3, -7],
        [-1, 1],
      ] as const),
      ...([
        [-2, bytes(x)],
        [-3, bytes(y)],
      ] as const),
    ]),
  );
  const id = randomBytes(16);
  const authData = Buffer.concat([
    createHash('sha256').update('localhost').digest(),
    // The flags of a present and verified user, and of an attached key; no signatures, and no model.
    Buffer.from([0x45, ...Array(20).fill(0), 0, id.length]),
    ...[id, key],
  ]);
  const attestation = isoCBOR.encode(
    new Map<string, string | Uint8Array | Map<string, string>>([
      ['fmt', 'android-key'],
      ['attStmt', new Map([['x5c', 'no certificates']])],
      ['authData', new Uint8Array(authData)],
    ]),
  );
  const clientData = { type: 'webauthn.create', challenge, origin: kit.origin };
  const credential = JSON.stringify({
    ...{ id: id.toString('base64url'), rawId: id.toString('base64url'), type: 'public-key' },
    response: {
      clientDataJSON: Buffer.from(JSON.stringify(clientData)).toString('base64url'),
      attestationObject: Buffer.from(attestation).toString('base64url'),
    },
  });
  const fields = formOf(page.html, '/staff/join/passkey');
  const answer = await browser.post('/staff/join/passkey', { ...fields, credential });
  expect([answer.status, answer.location]).toEqual([303, `${kit.origin}/operators`]);
});
