import { closeOnSignals, failToStart } from '@ostiary/reference-server';
import { startDemo } from './demo.ts';
import { withArguments } from './environment.ts';
import { demoTable } from './table.ts';

process.umask(0o077);
// Ignore errors: the output may go into a pipe that is closed early, as with `npm start | head`.
if (process.stdout.listenerCount('error') === 0) process.stdout.on('error', () => undefined);

try {
  const demo = await startDemo(withArguments(process.env, process.argv.slice(2)));
  closeOnSignals(() => demo.close());
  process.stdout.write(`${await demoTable(demo)}\n`);
} catch (error) {
  failToStart(error);
}
