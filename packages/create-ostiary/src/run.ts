import { relative } from 'node:path';
import { appFiles } from './app.ts';
import { parseArguments } from './arguments.ts';
import { Refusal } from './choices.ts';
import { checkFolder, writeFiles } from './folder.ts';
import { help } from './help.ts';
import { installCommand, isReleased, notReleased } from './install.ts';
import { version } from './manifest.ts';
import { type Ask, completed } from './questions.ts';

/** Terminal of the user, or its replacement in a test. */
export interface Terminal {
  readonly write: (text: string) => void;
  readonly complain: (text: string) => void;
  /** Asks the user a question; `null` without a user at a terminal. */
  readonly ask: Ask | null;
}

/** Runs the command `create-ostiary`. @returns the exit code */
export async function run(args: readonly string[], { write, complain, ask }: Terminal): Promise<0 | 1> {
  try {
    const { given, yes, ...shown } = parseArguments(args);
    if (shown.help || shown.version) {
      write(shown.help ? help : `${version}\n`);
      return 0;
    }
    const choices = await completed(given, yes ? null : ask, checkFolder);
    const files = appFiles(choices);
    writeFiles(choices.folder, files);
    const there = relative('.', choices.folder);
    const steps = [
      ...(there === '' ? [] : [`cd ${there}`]),
      ...(choices.storage === 'postgres' ? ['(set DATABASE_URL in .env)'] : []),
      ...[installCommand(choices), 'npm test', 'npm start'],
    ];
    const now = isReleased ? 'Now:' : notReleased;
    write(`Wrote ${files.size} files. ${now}\n\n${steps.map((step) => `  ${step}\n`).join('')}`);
    return 0;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    complain(`create-ostiary: ${error.message}\n`);
    return 1;
  }
}
