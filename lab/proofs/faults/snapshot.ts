import type { ProofServer } from '../../support/postgres/postgres-server.ts';

/** The hottest table: what a worker walks along. */
const table = 'ostiary.pending_deliveries';

/** Vacuums before it is believed that dead rows stay. */
const rounds = 50;

/** A transaction that keeps PostgreSQL from cleaning up. A prepared one: it also outlives a restart of the server. */
export async function holdSnapshot({ app }: ProofServer) {
  await app.query('CREATE EXTENSION pgstattuple');
  const client = await app.connect();
  try {
    await client.query(`BEGIN; SELECT pg_current_xact_id(); PREPARE TRANSACTION 'long'`);
  } finally {
    client.release();
  }
  const dead = async (): Promise<number> => {
    const { rows } = await app.query(`SELECT dead_tuple_count::integer AS dead FROM pgstattuple('${table}')`);
    return rows[0].dead;
  };
  return {
    /** Ends it. @returns how many dead rows it kept, and how many were left when the table was vacuumed afterwards */
    async end(): Promise<[during: number, after: number]> {
      const during = await dead();
      await app.query(`ROLLBACK PREPARED 'long'`);
      // Statements that began before the end hold it a moment longer.
      let after = during;
      for (let round = 0; round < rounds && after > during / 2; round += 1) {
        await app.query(`VACUUM ${table}`);
        after = await dead();
      }
      return [during, after];
    },
  };
}
