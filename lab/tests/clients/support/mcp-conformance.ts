import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const program = resolve(
  import.meta.dirname,
  '../../../node_modules/@modelcontextprotocol/conformance/dist/index.js',
);

/** Result of one check in a scenario of the MCP conformance suite. */
interface Check {
  readonly id: string;
  readonly status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO';
  readonly errorMessage?: string;
}

/** Runs the unmodified MCP conformance suite. Calls `onOutput` with all text of the output so far. */
async function run(
  args: readonly string[],
  onOutput: (text: string) => void = () => undefined,
): Promise<string> {
  const child = spawn(process.execPath, [program, ...args], {
    env: { PATH: process.env.PATH, NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => {
      output += text;
      onOutput(output);
    });
  await once(child, 'close');
  return output;
}

/** Returns the names of the suite's scenarios for an authorization server, or for an MCP server. */
export async function scenarioNames(kind: 'authorization' | 'server'): Promise<readonly string[]> {
  const output = await run(['list', `--${kind}`]);
  return Array.from(output.matchAll(/^ +- (\S+)/gm), ([, name = '']) => name);
}

/**
 * Runs scenarios of the MCP conformance suite and returns the status of each check, by scenario and check.
 * @throws Error with the output if no scenario was run
 */
export async function statuses(
  args: readonly string[],
  onOutput?: (text: string) => void,
): Promise<Readonly<Record<string, Readonly<Record<string, string>>>>> {
  const folder = mkdtempSync(join(tmpdir(), 'mcp-conformance-'));
  try {
    const output = await run([...args, '--output-dir', folder], onOutput);
    const scenarios = readdirSync(folder).map((name) => {
      const checks: readonly Check[] = JSON.parse(readFileSync(join(folder, name, 'checks.json'), 'utf8'));
      const results = checks.map(({ id, status, errorMessage }) => [
        id,
        status === 'SUCCESS' ? status : `${status}: ${errorMessage}`,
      ]);
      // The suite adds its role and the time to the name of a scenario.
      const scenario = name.replace(/^(authorization-server|server)-(?=\w)/, '').replace(/-\d{4}-.*$/, '');
      return [scenario, Object.fromEntries(results)];
    });
    if (scenarios.length === 0) throw new Error(output);
    return Object.fromEntries(scenarios);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
