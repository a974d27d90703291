import { closeOnSignals, failToStart } from '@ostiary/reference-server';
import { startDemo } from './demo.ts';
import { withArguments } from './environment.ts';
import { demoTable } from './table.ts';

process.umask(0o077);

try {
  const demo = await startDemo(withArguments(process.env, process.argv.slice(2)));
  closeOnSignals(() => demo.close());
  process.stdout.write(`${await demoTable(demo)}\n`);
} catch (error) {
  failToStart(error);
}
