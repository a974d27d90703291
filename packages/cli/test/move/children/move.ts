// Moves a file, and stops in the middle of it. Its parent kills it there.
import Sqlite from 'better-sqlite3';
import { Pool } from 'pg';
import { moveFromSqlite } from '../../../src/move/index.ts';

const [file = '', connectionString = '', schema = '', table = ''] = process.argv.slice(2);

await moveFromSqlite({
  from: new Sqlite(file),
  pool: new Pool({ connectionString }),
  schema,
  onProgress(progress) {
    if (progress.table !== table) return;
    process.send?.('in the middle');
    // Blocks this process without using it.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  },
});
