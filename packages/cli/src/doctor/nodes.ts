import { type Examined, type NodeFacts, namesOf } from './examined.ts';
import { type CheckResult, ok, problem, sound, warning } from './finding.ts';
import { keyIdOf } from './key-proofs.ts';

/**
 * Checks which server processes run, whether all have the same version, and whether some ended without
 * unregistering.
 */
export function* checkNodes({ nodes, silent }: Examined): Generator<CheckResult> {
  if (nodes === null) return;
  if (!nodes.some(({ role }) => role !== 'worker')) {
    return yield problem(
      'no process serves requests',
      'Users cannot sign in.',
      'Start one. A process that cannot register itself in the database is not listed: read its log.',
    );
  }
  const versions = new Set(nodes.map(({ facts }) => facts.version));
  if (versions.size > 1) {
    yield warning(
      `versions ${[...versions].join(' and ')} run side by side`,
      'This is expected during an update, but not afterwards.',
      'Replace the processes of the older version.',
    );
  }
  if (silent.length > 0) {
    yield warning(
      `${namesOf(silent)} ended without unregistering`,
      'The process was killed, its machine is gone, or it cannot write to the database.',
      'Read its log. It is listed for a day.',
    );
  }
  yield ok(namesOf(nodes));
}

/** Checks whether a server process runs a worker. */
export function* checkWorkers({ nodes }: Examined): Generator<CheckResult> {
  if (nodes === null) return;
  const workers = nodes.filter(({ role }) => role !== 'web');
  yield workers.length > 0
    ? ok(namesOf(workers))
    : problem(
        'no worker runs',
        'Transfers stay pending, webhooks wait, and old rows are kept.',
        'Start a process that runs the worker.',
      );
}

/**
 * Checks whether all server processes, and one that starts with the doctor's settings, can decrypt each
 * other's secrets.
 */
export function* checkKeys({ settings, nodes }: Examined): Generator<CheckResult> {
  if (nodes === null) return;
  const mine = settings.sealingKeys.map(keyIdOf);
  const holders = [
    ...nodes.map(({ facts }) => ({ name: facts.name, ids: facts.keyIds })),
    { name: 'the environment of the doctor', ids: mine },
  ];
  const [cannot] = holders.flatMap(({ name, ids: [first] }) =>
    holders
      .filter(({ ids }) => first !== undefined && !ids.includes(first))
      .map((other) => `what ${name} seals cannot be opened by ${other.name}`),
  );
  yield cannot === undefined
    ? ok(`every process opens what the others seal (${mine.join(', ')})`)
    : problem(
        cannot,
        'Keys, secrets and endpoints made by the one are lost for the other, and sign-in forms of the one fail at the other.',
        'Give all processes all keys first, and only then make another key the first one; remove the old one last.',
      );
}

/** Names of settings that all server processes must share. */
const shared = ['authUrl', 'baseUrl', 'prefix', 'trustedProxies'] as const satisfies (keyof NodeFacts)[];

/**
 * Checks whether all server processes have the same settings, and whether the settings are fit for
 * production.
 */
export function* checkSettings({ settings, nodes: known }: Examined): Generator<CheckResult> {
  const nodes = known ?? [];
  yield sound('the same in all processes, and fit for production');
  const loose = nodes.filter(({ facts }) => facts.mode !== 'production');
  if (settings.mode !== 'production' || loose.length > 0) {
    yield problem(
      `NODE_ENV is not production (${loose.length === 0 ? 'of the doctor' : namesOf(loose)})`,
      'The server starts with settings that are refused in production.',
      'Set NODE_ENV=production everywhere.',
    );
  }
  const open = nodes.filter(({ facts }) => facts.privateTargets);
  if (open.length > 0) {
    yield problem(
      `webhooks may go to private addresses (${namesOf(open)})`,
      'Partners can make the server call machines inside your network.',
      'Turn {allowPrivateTargets} off, or leave it out.',
    );
  }
  const different = shared.filter((name) =>
    nodes.some(({ facts }) => String(facts[name]) !== String(settings[name])),
  );
  if (different.length > 0) {
    yield warning(
      `${different.map((name) => `{${name}}`).join(', ')} differs between processes`,
      'The processes or the doctor use different settings.',
      'Give every process the same environment, and run the doctor with it.',
    );
  }
}
