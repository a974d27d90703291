#!/usr/bin/env node
import { createInterface } from 'node:readline/promises';
import { run } from './run.ts';

const { stdin, stdout, stderr } = process;
const lines = stdin.isTTY ? createInterface({ input: stdin, output: stdout }) : null;
// Whoever leaves in the middle of a question gets nothing.
lines?.once('close', () => process.exit(process.exitCode ?? 1));

process.exitCode = await run(process.argv.slice(2), {
  write: (text) => stdout.write(text),
  complain: (text) => stderr.write(text),
  ask: lines === null ? null : (question) => lines.question(question),
});
lines?.close();
