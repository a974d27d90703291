import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { blockOf } from '../../support/documentation.ts';

/** Commands of docs/compose.md, which run in the folder of a checkout. */
export class Page {
  readonly #folder: string;
  readonly #environment: NodeJS.ProcessEnv;

  constructor(folder: string) {
    this.#folder = folder;
    this.#environment = { ...process.env, COMPOSE_FILE: 'deploy/compose.yaml' };
  }

  /**
   * Runs a shell script. The output goes to a file, because containers that the script starts keep its output open.
   * @returns the output @throws Error with the output if a command fails
   */
  async shell(script: string): Promise<string> {
    const name = join(this.#folder, '.output');
    await using file = await open(name, 'w');
    const child = spawn('bash', ['-euo', 'pipefail', '-c', script], {
      cwd: this.#folder,
      env: this.#environment,
      stdio: ['ignore', file.fd, file.fd],
    });
    const [code] = await once(child, 'exit');
    const output = (await readFile(name, 'utf8')).trim();
    if (code !== 0) throw new Error(`${script.trim()}\n${output.slice(-2_000)}`);
    return output;
  }

  /**
   * Runs the only code block of the page that contains a text.
   * @param replace - changes what differs on this machine, such as a host name
   */
  async run(part: string, replace = (block: string): string => block): Promise<string> {
    return await this.shell(replace(blockOf('docs/compose.md', part)));
  }
}
