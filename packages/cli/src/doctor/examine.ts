import { checkAddress } from './address.ts';
import { checkClock } from './clock.ts';
import { checkAtomicity, checkDatabase } from './database.ts';
import { checkEgress } from './egress.ts';
import type { Examined } from './examined.ts';
import { checkFiles } from './files.ts';
import { type Finding, findingsOf } from './finding.ts';
import { checkKeys, checkNodes, checkSettings } from './nodes.ts';
import { checkProxies } from './proxies.ts';
import { checkSeals } from './seals.ts';
import { checkCookies, checkTls } from './transport.ts';
import { checkRetention, checkWork, checkWorkers } from './work.ts';

type Check = (examined: Examined) => Promise<readonly Finding[]>;

/** Every check, in the order in which one would mend. */
const checks = (egress: string | null): Readonly<Record<string, Check>> => ({
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
  work: checkWork,
  retention: checkRetention,
  egress: (examined) => checkEgress(examined, egress),
});

async function tried(check: string, work: () => Promise<readonly Finding[]>): Promise<readonly Finding[]> {
  try {
    return await work();
  } catch (error) {
    return [
      findingsOf(check).problem(
        `cannot be looked at (${error instanceof Error ? error.message : 'unknown error'})`,
        'The doctor and the servers may be of different versions, or the database is away.',
        'Run the doctor of the version that runs, with the environment that it runs with.',
      ),
    ];
  }
}

/** What is asked of the doctor, beside what it looks at. */
export interface ExamineOptions {
  /** An https address to try connections to, instead of endpoints of partners. */
  readonly egress?: string | null;
  /** What settings are called where the operator sets them, such as `{ authUrl: 'OSTIARY_AUTH_URL' }`. */
  readonly names?: Readonly<Record<string, string>>;
}

/**
 * Looks at an installation from outside, as browsers and partners do, and from inside its database, while it runs. It changes
 * nothing; only a `race` of the host's may.
 */
export async function examine(
  examined: Examined,
  { egress = null, names = {} }: ExamineOptions = {},
): Promise<readonly Finding[]> {
  // Checks write `{authUrl}`: the option of `createOstiary`, unless the host calls it by another name.
  const named = (text: string): string => text.replaceAll(/\{(\w+)\}/g, (_, name) => names[name] ?? name);
  const found: Finding[] = [];
  for (const [name, check] of Object.entries(checks(egress)))
    found.push(...(await tried(name, () => check(examined))));
  return found.map(({ what, why, mend, ...rest }) => ({
    ...rest,
    what: named(what),
    ...(why !== undefined && { why: named(why) }),
    ...(mend !== undefined && { mend: named(mend) }),
  }));
}
