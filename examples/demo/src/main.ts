import { closeOnSignals, failToStart } from '@ostiary/reference-server';
import { startDemo } from './demo.ts';
import { demoTable } from './table.ts';

process.umask(0o077);

try {
  const demo = await startDemo(process.env);
  closeOnSignals(() => demo.close());
  process.stdout.write(`${demoTable(demo)}\n`);
} catch (error) {
  failToStart(error);
}
