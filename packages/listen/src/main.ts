#!/usr/bin/env node
import { run } from './run.ts';

const { stdout, stderr } = process;
// Ignore errors: the output may go into a pipe that is closed early, such as `head`.
for (const stream of [stdout, stderr]) stream.on('error', () => undefined);

const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    // A second Ctrl+C does not wait for the removal of the endpoint.
    if (stop.signal.aborted) process.exit(130);
    stop.abort();
  });
}

process.exitCode = await run(process.argv.slice(2), {
  environment: process.env,
  write: (text) => stdout.write(`${text}\n`),
  complain: (text) => stderr.write(`${text}\n`),
  signal: stop.signal,
});
