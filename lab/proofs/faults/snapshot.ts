import type { ProofServer } from '../../support/postgres/postgres-server.ts';

/** What a long transaction cost. */
export interface Bloat {
  readonly heldSeconds: number;
  /** Rows that nobody needs and that could not be removed, and the size of the table and its indexes, in bytes. */
  readonly dead: number;
  readonly bytes: number;
  /** The same after the transaction ended and the table was vacuumed. */
  readonly deadAfter: number;
}

/** The hottest table: what a worker walks along. */
const table = 'ostiary.pending_deliveries';

/** Vacuums before it is believed that dead rows stay. */
const rounds = 50;

const deadRows = `SELECT dead_tuple_count::integer AS dead FROM pgstattuple('${table}')`;

/** A transaction that keeps PostgreSQL from cleaning up. A prepared one: it also outlives a restart of the server. */
export async function holdSnapshot({ app }: ProofServer): Promise<{ end(): Promise<Bloat> }> {
  await app.query('CREATE EXTENSION pgstattuple');
  const client = await app.connect();
  try {
    await client.query(`BEGIN; SELECT pg_current_xact_id(); PREPARE TRANSACTION 'long'`);
  } finally {
    client.release();
  }
  const started = performance.now();
  const dead = async () => (await app.query<{ dead: number }>(deadRows)).rows[0]?.dead ?? Number.NaN;
  return {
    async end() {
      const held = await dead();
      const size = await app.query<{ bytes: number }>(
        `SELECT pg_total_relation_size('${table}')::float8 AS bytes`,
      );
      await app.query(`ROLLBACK PREPARED 'long'`);
      const heldSeconds = (performance.now() - started) / 1000;
      // Statements that began before the end hold it a moment longer.
      let deadAfter = held;
      for (let round = 0; round < rounds && deadAfter > held / 2; round += 1) {
        await app.query(`VACUUM ${table}`);
        deadAfter = await dead();
      }
      return { heldSeconds, dead: held, bytes: size.rows[0]?.bytes ?? Number.NaN, deadAfter };
    },
  };
}
