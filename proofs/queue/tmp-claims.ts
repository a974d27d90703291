import { randomBytes } from 'node:crypto';
import { postgresStorage } from '@ostiary/adapter-postgres';
import { startServer } from '../support/postgres-server.ts';
import { Client, Pool } from 'pg';
const [waiting, endpoints, claims, mode, plan] = [Number(process.argv[2]), Number(process.argv[3]), Number(process.argv[4]), process.argv[5] ?? 'full', process.argv[6]];
const server = await startServer({ fsync: true });
const pool = new Pool({ connectionString: server.url('app'), max: 4 });
let last: { text: string; values: unknown[] } | null = null;
pool.on('connect', (client) => {
  const query = client.query.bind(client) as (...given: unknown[]) => unknown;
  client.query = ((...given: unknown[]) => {
    const [first] = given as [{ text?: string; values?: unknown[] }];
    if (typeof first === 'object' && first.text?.includes('candidates')) last = { text: first.text, values: first.values ?? [] };
    return query(...given);
  }) as never;
});
const storage = postgresStorage({ pool });
await storage.open();
const app = server.app;
const owners = Math.max(1, Math.ceil(endpoints / 10));
await app.query(`
  SET search_path TO ostiary;
  INSERT INTO webhook_endpoints SELECT 'we_' || lpad(i::text, 6, '0'), 'p' || i % ${owners}, 'live', 'https://example.com/', '{*}', true, repeat('s', 80), 1, 1, 1 FROM generate_series(1, ${endpoints}) AS i;
  INSERT INTO endpoint_queues (endpoint_id, partner, mode) SELECT id, partner, mode FROM webhook_endpoints;
  INSERT INTO event_sequences (partner, mode, last) SELECT 'p' || i, 'live', 1 FROM generate_series(0, ${owners - 1}) AS i;
  INSERT INTO events (id, partner, mode, sequence, type, body, created_at) SELECT 'evt_' || i, 'p0', 'live', i, 'kyc.updated', repeat('x', 300), i FROM generate_series(1, ${waiting / 10 + 1}) AS i;
  INSERT INTO deliveries (id, event_number, endpoint_id, partner, mode, status, created_at)
    SELECT 'dl_' || i, (i + 9) / 10, 'we_' || lpad((1 + (i::bigint * 7919) % ${endpoints})::text, 6, '0'), 'p' || (1 + (i::bigint * 7919) % ${endpoints}) % ${owners}, 'live', 'pending', i FROM generate_series(1, ${waiting}) AS i;
  INSERT INTO pending_deliveries (id, number, endpoint_id, event_number, due_at) SELECT id, number, endpoint_id, event_number, created_at FROM deliveries;
  RESET search_path;`);
await app.query('VACUUM (ANALYZE)'); await app.query('CHECKPOINT');
if (mode === 'long') { const c = new Client({ connectionString: server.url('app') }); await c.connect(); await c.query('BEGIN; SELECT pg_current_xact_id()'); }
const times: number[] = []; const fin: number[] = []; let n = 0;
let now = 2_000_000_000_000;
const rooms = new Map<string, number>();
const started = performance.now();
for (let i = 0; i < claims; i++) {
  const t = performance.now();
  const claimed = await storage.deliveries.claim({ claimId: randomBytes(16).toString('hex'), now, leaseMs: 30_000, limit: 256, room: endpoints === 1 ? 256 : 8, rooms });
  times.push(performance.now() - t);
  n += claimed.length;
  now += 20;
  const u = performance.now();
  await storage.deliveries.finish(claimed.map(({ id, claimId, attempt: number }) => ({ id, claimId, attempt: { number, at: now, durationMs: 1, httpStatus: 200, error: null, response: 'ok' }, next: { status: 'delivered' as const } })));
  fin.push(performance.now() - u);
}
const pct = (v: number[], p: number) => [...v].sort((a, b) => a - b)[Math.min(v.length - 1, Math.floor(v.length * p))]?.toFixed(1);
const show = (name: string, v: number[]) => console.log(name, 'median', pct(v, 0.5), 'p99', pct(v, 0.99), 'max', pct(v, 1), '| first fifth', pct(v.slice(0, v.length / 5), 0.5), 'last fifth', pct(v.slice(-v.length / 5), 0.5));
console.log(waiting, endpoints, mode, 'deliveries', n, 'seconds', ((performance.now() - started) / 1000).toFixed(0));
show('claim', times); show('finish', fin);
if (plan) {
  const values = [...last!.values]; 
  const c = new Client({ connectionString: server.url('app') }); await c.connect();
  await c.query('BEGIN');
  const { rows } = await c.query(`EXPLAIN (ANALYZE, BUFFERS) ${last!.text}`, values as never);
  for (const row of rows) console.log(row['QUERY PLAN']);
}
await storage.close(); await pool.end(); await server.remove();
process.exit();
