import { checkAddress, checkClock, checkProxies } from './address.ts';
import { checkAtomicity, checkDatabase, checkFiles } from './database.ts';
import type { Examined } from './examined.ts';
import { type CheckResult, type Finding, problem } from './finding.ts';
import { checkKeys, checkNodes, checkSettings, checkWorkers } from './nodes.ts';
import { checkSeals } from './seals.ts';
import { checkCookies, checkEgress, checkTls } from './transport.ts';
import { checkDeliveries, checkJobs, checkRetention } from './work.ts';

type Check = (
  examined: Examined,
  egress: string | null,
) => AsyncIterable<CheckResult> | Iterable<CheckResult>;

/**
 * All checks of the doctor, in the order in which to fix problems: later problems may be caused by earlier
 * ones.
 */
const checks: Readonly<Record<string, Check>> = {
  settings: checkSettings,
  address: checkAddress,
  tls: checkTls,
  cookies: checkCookies,
  proxies: checkProxies,
  clock: checkClock,
  processes: checkNodes,
  'sealing keys': checkKeys,
  secrets: checkSeals,
  database: checkDatabase,
  atomicity: checkAtomicity,
  files: checkFiles,
  workers: checkWorkers,
  jobs: checkJobs,
  deliveries: checkDeliveries,
  retention: checkRetention,
  egress: checkEgress,
};

async function saidBy(check: Check, ...given: Parameters<Check>): Promise<readonly CheckResult[]> {
  const said: CheckResult[] = [];
  try {
    for await (const one of check(...given)) said.push(one);
  } catch (error) {
    said.push(
      problem(
        `cannot be examined (${error instanceof Error ? error.message : 'unknown error'})`,
        'The doctor and the servers may have different versions, or the database is unreachable.',
        'Run the doctor in the version of the servers, with their environment.',
      ),
    );
  }
  const isWrong = said.some(({ verdict }) => verdict !== 'ok');
  return said.filter(({ unlessWrong }) => !(isWrong && unlessWrong));
}

/** Options of {@link examine}, the examination of an installation. */
export interface ExamineOptions {
  /** An https URL with which outgoing connections are tested, instead of endpoints of partners. */
  readonly egress?: string | null;
  /** Names under which the operator knows the settings, such as `{ authUrl: 'OSTIARY_AUTH_URL' }`. */
  readonly names?: Readonly<Record<string, string>>;
}

/**
 * Examines a running installation: from outside, as browsers and partners see it, and in its database.
 * Changes no data, except through the host application's `race`.
 */
export async function examine(
  examined: Examined,
  { egress = null, names = {} }: ExamineOptions = {},
): Promise<readonly Finding[]> {
  // Replaces placeholders such as `{authUrl}` with the host's name for the setting, by default the option of
  // `createOstiary`.
  const named = (text: string): string => text.replaceAll(/\{(\w+)\}/g, (_, name) => names[name] ?? name);
  const found: Finding[] = [];
  for (const [check, run] of Object.entries(checks)) {
    for (const { verdict, what, why, mend } of await saidBy(run, examined, egress)) {
      const advice = why !== undefined && mend !== undefined && { why: named(why), mend: named(mend) };
      found.push({ check, verdict, what: named(what), ...advice });
    }
  }
  return found;
}
