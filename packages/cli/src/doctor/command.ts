import { styled } from '../colour.ts';
import { CommandUsageError, type StandaloneCommand, table, value } from '../command.ts';
import type { Finding } from './finding.ts';

const colours = { ok: 'green', warning: 'yellow', problem: 'red' } as const;

function rowsOf({ check, verdict, what, why, mend }: Finding): readonly (readonly string[])[] {
  const rows = [[styled(colours[verdict], verdict), check, what]];
  if (why !== undefined) rows.push(['', '', `  ${why}`]);
  if (mend !== undefined) rows.push(['', '', `  → ${mend}`]);
  return rows;
}

/**
 * Makes the command `doctor`, which examines a running deployment. The exit code is 1 if it finds a problem.
 *
 * @param find - opens the installation and calls `examine`, with the URL to test outgoing connections with
 */
export function doctorCommand(
  find: (egress: string | null) => Promise<readonly Finding[]>,
): StandaloneCommand {
  return {
    standalone: true,
    about: 'check a deployment that runs: addresses, TLS, proxies, clocks, keys, database, workers',
    example: '--egress https://example.com',
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
}
