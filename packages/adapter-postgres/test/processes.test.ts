import { processRaces } from '../../testing/test/adapters/process-races.ts';
import { readMigrations } from '../src/migrations.ts';
import { serverForTests } from './server.ts';

const server = serverForTests();

processRaces(
  () => {
    const schema = server.nextSchema();
    return {
      place: server.placeOf(schema),
      open: async () => (await server.opened({ schema })).storage,
      async applied() {
        const sql = `SELECT name FROM "${schema}".schema_migrations WHERE number > 0 ORDER BY number`;
        return (await server.pool.query(sql)).rows.map(({ name }) => name);
      },
    };
  },
  readMigrations().map(({ name }) => name),
);
