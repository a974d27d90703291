// Moves a file, and blocks in the middle of it until its parent kills the process.
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
    // Blocks this process without using the CPU.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  },
});
