#!/usr/bin/env node
import { createInterface } from 'node:readline/promises';
import { nodeProblem } from './node-version.ts';

const { stdin, stdout, stderr, versions } = process;
// The output may go into a pipe that is closed early, such as `head`. Writing the whole app matters more than the lines.
for (const stream of [stdout, stderr]) stream.on('error', () => undefined);

async function main(): Promise<number> {
  const problem = nodeProblem(versions.node);
  if (problem !== null) {
    stderr.write(problem);
    return 1;
  }
  // Loaded only now: an older Node lacks functions that the modules behind it import, and would print a stack.
  const { run } = await import('./run.ts');
  const lines = stdin.isTTY ? createInterface({ input: stdin, output: stdout }) : null;
  // Leaving in the middle of a question writes nothing.
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
