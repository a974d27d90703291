import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { CommandUsageError } from './command.ts';

/** The first line of standard input, when it is a file or a pipe. */
async function firstLine(): Promise<string> {
  process.stdin.setEncoding('utf8');
  let read = '';
  for await (const chunk of process.stdin) {
    read += chunk;
    const end = read.indexOf('\n');
    if (end !== -1) return read.slice(0, end).replace(/\r$/, '');
    if (read.length > 4_096) break;
  }
  return read;
}

/** Asks at the terminal, on standard error, without showing what is typed. */
async function ask(question: string): Promise<string> {
  let asked = false;
  const output = new Writable({
    write(chunk: Buffer, _encoding, done) {
      // readline echoes through this stream: the question passes, what is typed does not.
      if (!asked) process.stderr.write(chunk);
      done();
    },
  });
  const terminal = createInterface({ input: process.stdin, output, terminal: true });
  try {
    const answer = terminal.question(question);
    asked = true;
    return await answer;
  } finally {
    terminal.close();
    process.stderr.write('\n');
  }
}

/**
 * Reads a new password: twice from a terminal, where it is not shown, once from anything else. A password is never an argument:
 * everybody on the machine can see arguments.
 *
 * @throws CommandUsageError when there is none, or the two differ
 */
export async function readPassword(): Promise<string> {
  if (process.stdin.isTTY !== true) {
    const password = await firstLine();
    if (password === '')
      throw new CommandUsageError('a password is expected on the first line of standard input');
    return password;
  }
  const password = await ask('Password: ');
  if ((await ask('Again: ')) !== password) throw new CommandUsageError('the two passwords differ');
  return password;
}
