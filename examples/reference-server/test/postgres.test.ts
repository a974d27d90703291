import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { freePort } from '../../../lab/support/free-port.ts';
import { overrideTypes } from '../../../lab/support/postgres/hostile-types.ts';
import { runHere } from '../../../lab/support/processes/run-here.ts';
import { createLogger } from '../src/http/logging.ts';
import { approve, createPartner } from './support/partners.ts';
import { type PostgresServer, startPostgres } from './support/postgres.ts';
import { type Program, run } from './support/processes.ts';
import { anaika, environment, start } from './support/server.ts';
import { fieldsOf, Visitor } from './support/visitor.ts';

const main = join(import.meta.dirname, '../src/main.ts');

let postgres: PostgresServer;
let databases = 0;

beforeAll(async () => {
  postgres = await startPostgres();
}, 120_000);
afterAll(() => postgres?.remove(), 60_000);

async function postgresEnvironment(changes: Record<string, string> = {}) {
  databases += 1;
  const url = await postgres.createDatabase(`server_${databases}`);
  return environment({ NODE_ENV: 'test', DATABASE_URL: url, ...changes });
}

/** Starts the same installation in another process, on another port. */
async function besides(
  env: NodeJS.ProcessEnv,
  role: string,
): Promise<{ env: NodeJS.ProcessEnv; program: Program }> {
  const { PORT } = await environment();
  const own = { ...env, ...(PORT !== undefined && { PORT }), OSTIARY_ROLE: role };
  const program = run('main.ts', [], own);
  await program.until('"listening"');
  return { env: own, program };
}

const statusOf = async (url: string): Promise<readonly [number, unknown]> => {
  const response = await fetch(url);
  return [response.status, await response.json()];
};

/** Returns a URL of the server through another port, which refuses connections until `open` is called. */
async function doorTo(url: string) {
  const { hostname, port } = new URL(url);
  const closed = await freePort();
  const door = createServer((socket) => {
    const onward = connect(Number(port), hostname);
    for (const end of [socket, onward]) end.on('error', () => undefined);
    socket.pipe(onward).pipe(socket);
    socket.on('close', () => onward.destroy());
    onward.on('close', () => socket.destroy());
  });
  onTestFinished(() => void door.close());
  return { url: Object.assign(new URL(url), { port: closed }).href, open: () => door.listen(closed) };
}

describe('the server on PostgreSQL', () => {
  test('waits at the start for a database that is not yet reachable', async () => {
    const env = await postgresEnvironment();
    const door = await doorTo(env.DATABASE_URL ?? '');
    const lines: string[] = [];
    const logger = createLogger('warn', {
      write: (line: string) => {
        lines.push(line);
        door.open();
      },
    });
    const server = await start({ ...env, DATABASE_URL: door.url }, { logger });
    // The log says that the server waits for the database, without the database's URL.
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      msg: 'waiting for the database of DATABASE_URL',
      reason: 'nothing listens at its host and port',
    });
    expect((await statusOf(`http://localhost:${server.port}/readyz`))[0]).toBe(200);
  });

  test('writes a change of an identity check and its event in one transaction', async () => {
    const env = await postgresEnvironment();
    const server = await start(env);
    const { accounts, identityChecks, database } = server.installation;
    await accounts.create({ ...anaika, kycStatus: 'pending', kycTier: 1 });
    const told = await createPartner(server, 'told');
    const visitor = new Visitor(`http://localhost:${server.port}`);
    await visitor.signIn(anaika.handle, anaika.password);
    await approve(visitor, told.clientId, 'openid kyc');
    await database.write((transaction) =>
      transaction.script(`
        CREATE FUNCTION full() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no room'; END $$;
        CREATE TRIGGER full_up BEFORE INSERT ON ostiary.events FOR EACH STATEMENT EXECUTE FUNCTION full();`),
    );
    await expect(identityChecks.change('anaika', { kycTier: 3 })).rejects.toThrow('no room');
    expect(await accounts.get('anaika')).toMatchObject({ kycStatus: 'pending', kycTier: 1 });
    await database.write((transaction) => transaction.script('DROP TRIGGER full_up ON ostiary.events'));
    // Change twice at once: each change starts from the result of the other.
    const changes = await Promise.all(
      (['approved', 'rejected'] as const).map((kycStatus) => identityChecks.change('ANAIKA', { kycStatus })),
    );
    expect(changes.flatMap(({ events }) => events)).toHaveLength(2);
    const [first, second] = (await told.events()).map(({ data }) => data as Record<string, unknown>);
    expect(first).toMatchObject({ previous: { kycStatus: 'pending', kycTier: 1 } });
    expect(second?.previous).toEqual({ kycStatus: first?.kycStatus, kycTier: 1 });
  });

  test('answers 503 within two seconds while the database is gone, and recovers by itself', async () => {
    const env = await postgresEnvironment();
    const lines: string[] = [];
    const logger = createLogger('debug', { write: (line) => void lines.push(line) });
    const server = await start(env, { logger });
    await server.installation.accounts.create(anaika);
    const { admin } = server.installation.ostiary;
    await admin.partners.create({ slug: 'kafe', name: 'Kafe' });
    const { key } = await admin.apiKeys.issue({ partner: 'kafe', mode: 'live', scopes: ['payments:read'] });
    const origin = `http://localhost:${server.port}`;
    const visitor = new Visitor(origin);
    await visitor.signIn('anaika', anaika.password);
    expect((await statusOf(`${origin}/readyz`))[0]).toBe(200);
    const cookie = [...visitor.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { Cookie: cookie, Authorization: `Bearer svc_at_${'a'.repeat(43)}`, 'X-API-Key': key };
    const ask = (path: string) => fetch(`${origin}${path}`, { headers, redirect: 'manual' });
    const authorize = '/oauth/authorize?client_id=nobody&response_type=code';
    const paths = ['/', '/passport', authorize, '/v1/oauth/userinfo', '/v1/partner/payments'];
    await postgres.stop();
    for (const round of [1, 2]) {
      const asked = paths.map(async (path) => {
        const began = performance.now();
        const response = await ask(path);
        const tookLong = performance.now() - began > 2_000;
        expect([round, path, response.status, tookLong]).toEqual([round, path, 503, false]);
        expect(response.headers.get('retry-after'), path).toMatch(/^\d+$/);
      });
      await Promise.all(asked);
      const unavailable = [503, { status: 'unavailable' }];
      expect(await statusOf(`${origin}/readyz`)).toEqual(unavailable);
      expect(await statusOf(`${origin}/healthz`)).toEqual([200, { status: 'ok' }]);
    }
    await postgres.start();
    await expect.poll(async () => (await statusOf(`${origin}/readyz`))[0], { timeout: 20_000 }).toBe(200);
    expect((await visitor.get('/')).html).toContain('Anaïka');
    expect((await ask('/v1/partner/payments')).status).toBe(200);
    expect(lines.join('')).not.toContain('a-password-of-the-test');
  }, 90_000);

  test('does not wait for a database that does not respond', async () => {
    const env = await postgresEnvironment();
    const server = await start(env);
    const { sub } = await server.installation.accounts.create(anaika);
    const origin = `http://localhost:${server.port}`;
    const { database } = server.installation;
    const release = Promise.withResolvers<void>();
    const holding = database.write(
      async (transaction) => {
        await transaction.script('LOCK TABLE app.users; SET LOCAL idle_in_transaction_session_timeout = 0');
        await release.promise;
      },
      { patienceMs: 60_000 },
    );
    await expect
      .poll(() => database.get("SELECT 1 AS n FROM pg_locks WHERE mode = 'AccessExclusiveLock'"))
      .toEqual({ n: 1 });
    const visitor = new Visitor(origin);
    visitor.cookies.set('ostiary_session', 'A'.repeat(43));
    const began = performance.now();
    const page = await visitor.get('/');
    expect([page.status, page.headers.get('retry-after')]).toEqual([503, '2']);
    expect(performance.now() - began).toBeLessThan(4_000);
    release.resolve();
    await holding;
    expect((await visitor.get('/')).status).toBe(200);
    expect(await server.installation.accounts.getBySub(sub)).not.toBeNull();
  }, 60_000);

  test.each([
    ['there is no such database', { pathname: '/nowhere' }, 'there is no such database'],
    ['TLS is required and not offered', { search: '?sslmode=verify-full' }, 'it offers no TLS'],
    ['the host is nowhere', { hostname: 'secret-host.invalid' }, 'its host name'],
  ])('does not start when %s, and says so in one line without the URL', async (_, changes, reason) => {
    const url = Object.assign(new URL(postgres.url), changes);
    const { code, errors } = await runHere(main, [], await environment({ DATABASE_URL: url.href }));
    expect(code).toBe(1);
    expect(errors).toMatch(/^ostiary: the database of DATABASE_URL cannot be used: [^\n]*\n$/);
    expect(errors).toContain(reason);
    for (const part of ['127.0.0.1', 'postgres:', url.password, 'secret', '/nowhere'])
      expect(errors).not.toContain(part);
  });

  test('ends in its own process when the password is wrong, and writes nothing of the URL anywhere', async () => {
    const url = Object.assign(new URL(postgres.url), { password: 'wrong-and-secret' });
    const program = run('main.ts', [], await environment({ DATABASE_URL: url.href }));
    expect(await program.ended).toBe(1);
    expect([program.output(), program.errors()]).toEqual([
      '',
      expect.stringMatching(
        /^ostiary: the database of DATABASE_URL cannot be used: it refuses the password[^\n]*\n$/,
      ),
    ]);
    for (const part of ['127.0.0.1', 'postgres:', 'secret']) expect(program.errors()).not.toContain(part);
  });

  test('starts with few rights on existing tables, and reports the missing right otherwise', async () => {
    const env = await postgresEnvironment();
    const server = await start(env);
    const { database } = server.installation;
    await database.write((transaction) =>
      transaction.script(`
        CREATE ROLE web LOGIN PASSWORD 'of-web';
        GRANT USAGE ON SCHEMA ostiary, app TO web;
        GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ostiary, app TO web;`),
    );
    const few = (url = '') => Object.assign(new URL(url), { username: 'web', password: 'of-web' }).href;
    const other = await besides({ ...env, DATABASE_URL: few(env.DATABASE_URL) }, 'all');
    const origin = `http://localhost:${other.env.PORT}`;
    expect((await statusOf(`${origin}/readyz`))[0]).toBe(200);
    await server.installation.accounts.create(anaika);
    expect((await new Visitor(origin).signIn('anaika', anaika.password)).status).toBe(303);

    const empty = await postgresEnvironment();
    const refused = await runHere(main, [], { ...empty, DATABASE_URL: few(empty.DATABASE_URL) });
    const errors =
      'ostiary: the database of DATABASE_URL cannot be used: its user lacks a right; the first start and a start after an upgrade create schemas and tables, for which it needs GRANT CREATE ON DATABASE\n';
    expect(refused).toMatchObject({ code: 1, errors });
  });
});

describe('the roles', () => {
  test('split the work: web only responds to requests, and a worker only executes jobs', async () => {
    const env = await postgresEnvironment({ OSTIARY_ROLE: 'web' });
    const server = await start(env);
    const { accounts, ledger, ostiary } = server.installation;
    const executing = vi.spyOn(ledger.rail, 'execute');
    const { kid } = await accounts.create(anaika);
    await ostiary.admin.partners.create({ slug: 'kafe', name: 'Kafe' });
    await ledger.fund('kafe', '10.00', 'HTG');
    const scopes = ['payments:write', 'payments:read'] as const;
    const { key } = await ostiary.admin.apiKeys.issue({ partner: 'kafe', mode: 'live', scopes: [...scopes] });
    const headers = { 'X-API-Key': key, 'Content-Type': 'application/json' };
    const payments = `http://localhost:${server.port}/v1/partner/payments`;
    const body = JSON.stringify({ amount: '1.00', currency: 'HTG', recipient: { kid } });
    const answer = await fetch(payments, { method: 'POST', headers, body });
    const { id, status } = (await answer.json()) as Record<string, string>;
    expect([answer.status, status]).toEqual([201, 'pending']);
    const statusNow = async () => (await (await fetch(`${payments}/${id}`, { headers })).json()).status;
    const worker = await besides(env, 'worker');
    await expect.poll(statusNow, { timeout: 20_000 }).toBe('completed');
    // A worker in the first process would have executed the transfer before the other process existed.
    expect(executing).not.toHaveBeenCalled();
    const origin = `http://localhost:${worker.env.PORT}`;
    expect(await statusOf(`${origin}/healthz`)).toEqual([200, { status: 'ok' }]);
    expect(await statusOf(`${origin}/readyz`)).toEqual([200, { status: 'ok' }]);
    for (const path of ['/', '/login', '/oauth/authorize', '/.well-known/jwks.json'])
      expect([path, (await fetch(`${origin}${path}`)).status]).toEqual([path, 404]);
    // Not 404, which a client would take for a statement about its transfer.
    const message = 'This process serves no requests of the API.';
    expect(await statusOf(`${origin}/v1/partner/payments/tr_1`)).toEqual([
      503,
      { code: 'internal_error', message, requestId: expect.any(String) },
    ]);
    expect(await statusOf(`${origin}/V1/oauth/userinfo`)).toEqual([
      503,
      { error: 'temporarily_unavailable', error_description: message },
    ]);
    worker.program.child.kill('SIGTERM');
    expect(await worker.program.ended).toBe(0);
    expect(worker.program.output()).toContain('"msg":"closed"');
  }, 60_000);
});

test('serves a process that changed pg.types: sign-in, tokens, a payment', async () => {
  const restore = overrideTypes();
  onTestFinished(restore);
  const server = await start(await postgresEnvironment());
  const { accounts, ledger, ostiary } = server.installation;
  const origin = `http://localhost:${server.port}`;
  expect(await statusOf(`${origin}/readyz`)).toEqual([200, { status: 'ok' }]);
  const account = await accounts.create(anaika);
  expect(await accounts.get('anaika')).toEqual(account);
  const json = { 'Content-Type': 'application/json' };

  const { clientId, events } = await createPartner(server, 'kafe');
  const visitor = new Visitor(origin);
  await visitor.signIn('anaika', anaika.password);
  const redemption = await approve(visitor, clientId, 'openid kyc');
  const redeemed = await fetch(`${origin}/v1/oauth/token`, {
    ...{ method: 'POST', headers: json, body: JSON.stringify(redemption) },
  });
  const { access_token } = (await redeemed.json()) as { readonly access_token: string };
  const userinfo = await fetch(`${origin}/v1/oauth/userinfo`, {
    headers: { Authorization: `Bearer ${access_token}` },
  });
  expect([userinfo.status, await userinfo.json()]).toMatchObject([
    200,
    { sub: account.sub, kid: account.kid, kycTier: 0 },
  ]);

  await ledger.fund('kafe', '10.00', 'HTG');
  const scopes = ['payments:write', 'payments:read'] as const;
  const { key } = await ostiary.admin.apiKeys.issue({ partner: 'kafe', mode: 'live', scopes: [...scopes] });
  const headers = { ...json, 'X-API-Key': key };
  const body = JSON.stringify({ amount: '1.00', currency: 'HTG', recipient: { kid: account.kid } });
  const paid = await fetch(`${origin}/v1/partner/payments`, { method: 'POST', headers, body });
  const { id } = (await paid.json()) as { readonly id: string };
  const statusNow = async () =>
    (
      (await (await fetch(`${origin}/v1/partner/payments/${id}`, { headers })).json()) as {
        readonly status: string;
      }
    ).status;
  await expect.poll(statusNow, { timeout: 20_000 }).toBe('completed');
  expect((await events()).map(({ type }) => type)).toEqual(['payment.completed']);
  expect(await ostiary.admin.health()).toMatchObject({ jobs: expect.anything() });
}, 60_000);

test('a passkey whose id PostgreSQL cannot store is refused like any other', async () => {
  const server = await start(await postgresEnvironment({ OSTIARY_OPERATORS: 'on' }));
  const browser = new Visitor(`http://localhost:${server.port}`);
  const fields = fieldsOf((await browser.get('/staff/login')).html);
  const credential = JSON.stringify({ id: '\0', response: {} });
  expect((await browser.post('/staff/login/passkey', { ...fields, credential })).status).toBe(422);
});
