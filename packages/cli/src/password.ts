import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { CommandUsageError } from './command.ts';

/** Length above which a first line is no password, in characters. */
const longest = 4_096;

/**
 * Reads the first line of standard input, which is a file or a pipe.
 * @throws CommandUsageError if the line is too long for a password
 */
async function firstLine(): Promise<string> {
  process.stdin.setEncoding('utf8');
  let read = '';
  for await (const chunk of process.stdin) {
    read += chunk;
    if (chunk.includes('\n') || read.length > longest) break;
  }
  const [line = ''] = read.split(/\r?\n/, 1);
  if (line.length > longest)
    throw new CommandUsageError(`the first line of standard input is longer than ${longest} characters`);
  return line;
}

/** Prompts for a password on standard error, without showing what is typed. */
async function ask(question: string): Promise<string> {
  let asked = false;
  const output = new Writable({
    write(chunk: Buffer, _encoding, done) {
      // readline echoes through this stream: let the question pass, but not what is typed.
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
 * Reads a new password: twice from a terminal, without showing it, or once from a file or a pipe. A password
 * is never an argument, because every user of the machine can see arguments.
 *
 * @throws CommandUsageError if standard input has no password or a line that is too long for one, or the two
 * entries differ
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
