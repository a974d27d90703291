import { CommandUsageError, type StandaloneCommand, table, value } from '@ostiary/cli';
import { ConfigError } from '../config.ts';
import { examine } from '../doctor/examine.ts';
import { type Finding, findingsOf } from '../doctor/finding.ts';
import { configForCommands } from './find-installation.ts';

function rowsOf({ check, verdict, what, why, mend }: Finding): readonly (readonly string[])[] {
  const rows = [[verdict, check, what]];
  if (why !== undefined) rows.push(['', '', `  ${why}`]);
  if (mend !== undefined) rows.push(['', '', `  → ${mend}`]);
  return rows;
}

async function find(egress: string | null): Promise<readonly Finding[]> {
  try {
    return await examine(await configForCommands(process.env), { egress });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const { problem } = findingsOf('settings');
    return [problem(error.message, 'The server does not start with this environment.', 'Correct it.')];
  }
}

/** Looks at a deployment that runs. Ends with 1 when something has to be mended. */
export const doctorCommand: StandaloneCommand = {
  standalone: true,
  about: 'check a deployment that runs: addresses, TLS, proxies, clocks, keys, database, workers',
  flags: { egress: value('an https address to try connections to, instead of endpoints of partners') },
  async run(args) {
    const egress = args.text('egress') ?? null;
    if (egress !== null && !(URL.canParse(egress) && egress.startsWith('https:')))
      throw new CommandUsageError('--egress must be an https address');
    const findings = await find(egress);
    const count = (verdict: Finding['verdict']): number =>
      findings.filter((finding) => finding.verdict === verdict).length;
    const summary = `${count('ok')} ok, ${count('warning')} warnings, ${count('problem')} problems`;
    return {
      text: `${table(findings.flatMap(rowsOf))}\n\n${summary}`,
      json: { healthy: count('problem') === 0, findings },
      exitCode: count('problem') === 0 ? 0 : 1,
    };
  },
};
