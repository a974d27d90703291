#!/usr/bin/env node
import { createInterface } from 'node:readline/promises';
import { nodeProblem } from './node-version.ts';

const { stdin, stdout, stderr, versions } = process;
// Ignore errors: the output may go into a pipe that is closed early, such as `head`, and writing the whole
// app matters more than its messages.
for (const stream of [stdout, stderr]) stream.on('error', () => undefined);

async function main(): Promise<number> {
  const problem = nodeProblem(versions.node);
  if (problem !== null) {
    stderr.write(problem);
    return 1;
  }
  // Import only now: an older Node lacks functions that these modules import, and would print a stack trace.
  const { run } = await import('./run.ts');
  const lines = stdin.isTTY ? createInterface({ input: stdin, output: stdout }) : null;
  // Pressing Ctrl+C at a question exits before anything is written.
  lines?.once('close', () => process.exit(process.exitCode ?? 1));
  const code = await run(process.argv.slice(2), {
    write: (text) => stdout.write(text),
    complain: (text) => stderr.write(text),
    ask: lines === null ? null : (question) => lines.question(question),
  });
  process.exitCode = code;
  lines?.close();
  return code;
}

process.exitCode = await main();
