import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import type { Identity } from '../../../support/mcp/assistant.ts';
import type { SignInBrowser } from '../../../support/mcp/sign-in-browser.ts';

const program = resolve(
  import.meta.dirname,
  '../../../node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js',
);

/** Result of one run of the MCP inspector. */
interface Inspection {
  /** Exit code of the MCP inspector: 3 if the server requires a sign-in that did not happen. */
  readonly code: number | null;
  /** The `result` that the MCP inspector printed; `null` if the inspector printed none. */
  readonly result: unknown;
  readonly errors: string;
}

/**
 * The unmodified command line of the MCP inspector, which stores tokens in a separate folder as on a separate
 * machine. Each run connects, makes one call and ends.
 */
export class Inspector {
  readonly #home = mkdtempSync(join(tmpdir(), 'mcp-inspector-'));
  readonly #options: readonly string[];
  readonly #callback: string;
  readonly #browser: SignInBrowser;

  /** @param port - port on which the inspector waits for the callback */
  constructor(url: string, identity: Identity, port: number, browser: SignInBrowser) {
    const { clientId, clientMetadataUrl } = identity;
    this.#callback = `http://127.0.0.1:${port}/callback`;
    this.#browser = browser;
    this.#options = [
      ...['--cli', '--transport', 'http', '--server-url', url, '--format', 'json'],
      ...['--callback-url', this.#callback],
      ...(clientId === undefined ? [] : ['--client-id', clientId]),
      ...(clientMetadataUrl === undefined ? [] : ['--client-metadata-url', clientMetadataUrl]),
    ];
    // The inspector opens a program of the desktop. This one does nothing: the user opens the printed URL.
    const bin = join(this.#home, 'bin');
    mkdirSync(bin);
    for (const name of ['xdg-open', 'open']) {
      writeFileSync(join(bin, name), '#!/bin/sh\n');
      chmodSync(join(bin, name), 0o755);
    }
  }

  /** Returns the text of the file in which the MCP inspector stores its tokens. */
  storedTokens(): string {
    return readFileSync(join(this.#home, 'storage/secrets.json'), 'utf8');
  }

  remove(): void {
    rmSync(this.#home, { recursive: true, force: true });
  }

  /**
   * Runs the MCP inspector. The user signs in when the inspector asks for it, and agrees to request further
   * scopes.
   */
  async run(...call: readonly string[]): Promise<Inspection> {
    const path = [join(this.#home, 'bin'), process.env.PATH].join(delimiter);
    const child = spawn(process.execPath, [program, ...this.#options, ...call], {
      cwd: this.#home,
      env: {
        ...{ PATH: path, HOME: this.#home, NO_PROXY: '127.0.0.1', BROWSER: 'true' },
        ...{ MCP_STORAGE_DIR: join(this.#home, 'storage'), MCP_INSPECTOR_SECRET_STORE: 'file' },
        MCP_AUTO_OPEN_ENABLED: 'true',
      },
      stdio: 'pipe',
    });
    child.stdin.end('y\n');
    const output = { stdout: '', stderr: '' };
    let isOpened = false;
    let failure: unknown = null;
    child.stdout.setEncoding('utf8').on('data', (text) => {
      output.stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text) => {
      output.stderr += text;
      const [url] = /https?:\/\/\S+\/oauth\/authorize\?\S+(?=\s)/.exec(output.stderr) ?? [];
      if (url === undefined || isOpened) return;
      isOpened = true;
      this.#signIn(url).catch((error) => {
        failure = error;
        // The inspector would wait for a quarter of an hour.
        child.kill();
      });
    });
    const [code] = await once(child, 'close');
    if (failure !== null) throw failure;
    const { stdout, stderr: errors } = output;
    return { code, result: stdout === '' ? null : JSON.parse(stdout).result, errors };
  }

  async #signIn(url: string): Promise<void> {
    await fetch(await this.#browser.walk(url, this.#callback));
  }
}
