import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { inspectConfinement } from '../../support/containers/confinement.ts';
import { type Claim, claim, until } from '../../support/proof.ts';
import { Client } from './client.ts';
import { Page } from './page.ts';

/** Commands of the server in a container. */
const cli = 'node src/cli/main.ts';

const password = 'echo "correct horse battery staple" | ';

/** Host names that lead to this machine, for which Caddy is its own certificate authority. */
const settings =
  "sed -i 's/^AUTH_HOST=.*/AUTH_HOST=id.localhost/; s/^API_HOST=.*/API_HOST=api.localhost/' deploy/.env";

const sql = (server: string, statement: string) =>
  `docker compose exec ${server} psql --username=postgres --dbname=ostiary --no-align --tuples-only --command="${statement}"`;

/** Checks that Prometheus reaches its targets and has loaded the alert rules. */
async function proveWatching(): Promise<Claim[]> {
  const ask = async (path: string) =>
    Object(await (await fetch(`http://127.0.0.1:9090/api/v1/${path}`)).json()).data;
  const healths = async (): Promise<string[]> =>
    (await ask('targets')).activeTargets
      .filter(({ labels }: { labels: { job: string } }) => labels.job === 'ostiary')
      .map(({ health }: { health: string }) => health);
  const areUp = await until(async () => (await healths()).join() === 'up,up,up,up');
  const { groups } = await ask('rules');
  const rules = groups.flatMap(({ rules }: { rules: readonly { health: string }[] }) => rules);
  return [
    claim('Prometheus scrapes two web processes and two workers', areUp, (await healths()).join()),
    claim('Prometheus has loaded the alert rules', rules.length > 10, `${rules.length} rules`),
  ];
}

/** Quotes a text as one argument of a shell's command. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** Checks which rights a server has, and to which folders it can write. Its image has no shell. */
async function proveServerConfinement(page: Page, service: string): Promise<Claim> {
  const command = inspectConfinement.map(quoted).join(' ');
  const seen = await page.shell(`docker compose exec ${service} ${command}`);
  const isConfined = seen.includes('Uid:\t1000\t') && seen.includes('CapEff:\t0000000000000000');
  const writable = Array.from(seen.matchAll(/^writes to (.*)$/gm), ([, path]) => path).join();
  return claim(
    `${service} has no capabilities, and writes only to /tmp and /data`,
    isConfined && writable === '/tmp,/data',
    seen.replaceAll(/\s+/g, ' '),
  );
}

/** Checks which rights the processes of a deployment have. */
async function proveConfinement(page: Page): Promise<Claim[]> {
  const script = "grep -E '^(Uid|CapEff):' /proc/1/status; touch /mine 2>&1 || true";
  const backup = await page.shell(`docker compose exec backup sh -c "${script}"`);
  const postgres = await page.shell(`docker compose exec postgres-1 sh -c "${script}; id -un"`);
  return [
    await proveServerConfinement(page, 'web-1'),
    await proveServerConfinement(page, 'worker'),
    claim(
      'the backup has no capabilities, and a read-only root',
      backup.includes('CapEff:\t0000000000000000') && backup.includes('Read-only'),
      backup.replaceAll(/\s+/g, ' '),
    ),
    claim(
      'PostgreSQL runs as its own user',
      postgres.endsWith('postgres') && postgres.includes('CapEff:\t0000000000000000'),
      postgres.replaceAll(/\s+/g, ' '),
    ),
  ];
}

/** Starts everything as the page says. @returns a client of the deployment */
async function start(page: Page, claims: Claim[]): Promise<Client> {
  await page.run('openssl rand');
  await page.shell(settings);
  // `doctor` needs host names that lead to this machine inside of containers too. Without a terminal, the command that creates
  // a user reads the password from its input.
  await page.run('--build --detach', (block) =>
    block.replace(/^.* doctor\n/m, '').replace(/^(?=.* users create)/m, password),
  );
  const [partner, user] = [
    `docker compose exec worker ${cli} partners create kafe --name Kafe`,
    `${password} docker compose exec web-1 ${cli} users create --handle ana --name Ana --phone +50937000000 --kyc-status approved --kyc-tier 2 --json`,
  ];
  await page.shell(partner);
  await page.shell(`docker compose exec worker ${cli} partners fund kafe --amount 100000.00 --currency HTG`);
  const { kid } = JSON.parse(await page.shell(user));
  const issued = JSON.parse(
    await page.shell(
      `docker compose exec worker ${cli} keys issue kafe --mode live --scope payments:write --scope payments:read --json`,
    ),
  );
  const ca = 'docker compose exec proxy cat /data/caddy/pki/authorities/local/root.crt';
  await until(() =>
    page.shell(ca).then(
      () => true,
      () => false,
    ),
  );
  const client = new Client(await page.shell(ca), issued.key, kid);
  const isUp = await until(async () => (await client.ask('id.localhost', '/readyz')).status === 200);
  const { body } = await client.ask('id.localhost', '/.well-known/openid-configuration');
  claims.push(
    claim(
      'the services start with the commands of the page, and respond over TLS',
      isUp && body.issuer === 'https://id.localhost',
      String(body.issuer),
    ),
  );
  return client;
}

/** Checks that a payment is executed. */
async function provePayment(client: Client, name: string): Promise<Claim> {
  const transfer = await client.pay();
  const isDone =
    transfer !== null && (await until(async () => (await client.statusOf(transfer)) === 'completed'));
  return claim(name, isDone, client.failures.splice(0).join(', ') || 'completed');
}

/** Checks that only the workers connect to PostgreSQL without PgBouncer. */
async function provePooling(page: Page): Promise<Claim> {
  const addresses = await page.shell(
    sql(
      'postgres-1',
      "SELECT DISTINCT client_addr FROM pg_stat_activity WHERE usename = 'ostiary' ORDER BY 1",
    ),
  );
  const own = await page.shell("docker compose exec pgbouncer sh -c 'hostname -i'");
  const found = addresses.split('\n');
  const isPooled = found.length === 3 && own.split(' ').some((address) => found.includes(address));
  return claim(
    'web processes reach PostgreSQL through PgBouncer, and workers directly',
    isPooled,
    `${found.length} addresses`,
  );
}

/** Updates one process after the other under load. */
async function proveUpdate(page: Page, client: Client): Promise<Claim> {
  const load = client.start();
  const before = client.requests;
  await page.run('docker compose build');
  client.stop();
  await load;
  return {
    name: 'no request fails during an update',
    problems: client.failures.splice(0),
    found: `${client.requests - before} requests`,
  };
}

/** Makes backups, and restores one after data was written. */
async function proveBackups(page: Page, client: Client): Promise<Claim[]> {
  const list = async () =>
    (await page.shell('docker compose exec backup backup list')).split('\n').filter(Boolean);
  const hasFirst = await until(async () => (await list()).length > 0);
  const healthy = await page.shell('docker compose exec backup backup check; echo healthy');
  // The newest backups stay, however old they are. So an old one is removed only if there are enough newer ones.
  await page.shell(
    "docker compose exec backup touch --date='20 days ago' /backup/ostiary-2026-01-01T000000Z.dump",
  );
  await page.shell(
    "docker compose exec backup touch --date='10 days ago' $(seq -f /backup/ostiary-2026-01-02T0000%02gZ.dump 14)",
  );
  await page.run('backup list');
  const backups = await list();
  const failed = await page.shell(
    'podman exec --env PGPASSWORD=wrong $(podman ps --quiet --filter label=com.docker.compose.service=backup) backup now 2>&1 || echo failed',
  );
  const afterFailure = await page.shell('docker compose exec backup ls /backup');
  await page.shell('docker compose exec backup sh -c "touch --date=\'27 hours ago\' /backup/*.dump"');
  const late = await page.shell('docker compose exec backup backup check 2>&1 || true');
  // The start after the restore waits until the backup is healthy.
  await page.shell('docker compose exec backup sh -c "touch /backup/*.dump"');

  const transfer = await client.pay();
  const newest = backups.at(-1) ?? '';
  const restored = await page.run('backup restore', (block) => block.replace(/ostiary-\S+\.dump/, newest));
  const isReady = await until(async () => (await client.ask('id.localhost', '/readyz')).status === 200);
  const { status } = await client.ask('api.localhost', `/v1/partner/payments/${transfer}`);
  const databases = await page.shell(
    sql('postgres-1', "SELECT datname FROM pg_database WHERE datname LIKE 'ostiary%' ORDER BY 1"),
  );
  return [
    claim(
      'the first backup is made without a command',
      hasFirst && healthy === 'healthy',
      `${backups.length} backups`,
    ),
    claim(
      'old backups are removed',
      backups.every((name) => !name.startsWith('ostiary-2026-01-01')),
      backups.join(),
    ),
    claim(
      'a failed backup leaves no file, and ends with an error',
      failed.endsWith('failed') && !afterFailure.includes('.part'),
      afterFailure.replaceAll('\n', ' '),
    ),
    claim(
      'a late backup makes the service unhealthy',
      late.includes('no backup is younger than 26 hours'),
      late,
    ),
    claim(
      'a restored database has the state of the backup',
      isReady && transfer !== null && status === 404,
      `${status}; ${restored.split('\n').find((line) => line.startsWith('restored'))}`,
    ),
    claim(
      'the database before the restore is kept',
      databases.split('\n').some((name) => name.startsWith('ostiary_before_')),
      databases.replaceAll('\n', ', '),
    ),
    await provePayment(client, 'a payment is executed after the restore'),
  ];
}

/** Starts a standby, and promotes it after the primary is gone. */
async function proveStandby(page: Page, client: Client): Promise<Claim[]> {
  const follower = await page.run('COMPOSE_PROFILES');
  const transfer = (await client.pay()) ?? '';
  const count = sql('postgres-2', 'SELECT count(*) FROM ostiary.transfers');
  await until(
    async () => (await page.shell(count)) === (await page.shell(count.replace('postgres-2', 'postgres-1'))),
  );
  await page.run('pg_ctl promote');
  const known = (await client.statusOf(transfer)) !== undefined;
  const paid = await provePayment(client, 'a payment is executed on the promoted standby');
  const refused = await page.shell(
    'docker compose up --detach --no-deps postgres-1; sleep 3; podman logs $(podman ps --all --quiet --filter label=com.docker.compose.service=postgres-1) 2>&1',
  );
  await page.shell('docker compose rm --stop --force postgres-1');
  await page.run('docker volume rm');
  const followers = sql('postgres-2', 'SELECT application_name, state FROM pg_stat_replication');
  const isBack = await until(async () => (await page.shell(followers)) === 'standby|streaming');
  return [
    claim(
      'a standby follows',
      follower.includes('standby') && follower.includes('streaming'),
      follower.split('\n').at(-2),
    ),
    claim('the promoted standby has the last payment', known, transfer),
    paid,
    claim(
      'the old primary refuses to start with its data',
      refused.includes('remove its volume'),
      refused.split('\n').find((line) => line.includes('remove its volume')),
    ),
    claim('the old primary returns as a standby', isBack, await page.shell(followers)),
  ];
}

const [folder = '', output = ''] = process.argv.slice(2);
execFileSync('ip', ['link', 'set', 'lo', 'up']);
const page = new Page(folder);
const claims: Claim[] = [];
try {
  const client = await start(page, claims);
  claims.push(await provePayment(client, 'a payment is executed'), await provePooling(page));
  claims.push(...(await proveConfinement(page)), ...(await proveWatching()));
  claims.push(await proveUpdate(page, client));
  claims.push(...(await proveBackups(page, client)));
  claims.push(...(await proveStandby(page, client)));
} catch (error) {
  claims.push({ name: 'the commands of the page succeed', problems: [String(error)] });
} finally {
  await page.shell('podman rm --all --force --time 5 --volumes > /dev/null').catch(() => undefined);
}
writeFileSync(output, JSON.stringify(claims));
