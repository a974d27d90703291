import { type Examined, type NodeFacts, namesOf } from './examined.ts';
import { type Finding, findingsOf } from './finding.ts';
import { keyIdOf } from './key-proofs.ts';

const nodesFindings = findingsOf('processes');
const keys = findingsOf('sealing keys');
const settingsFindings = findingsOf('settings');

/** Who runs, and whether it is one version. */
export async function checkNodes({ nodes, silent }: Examined): Promise<readonly Finding[]> {
  const { ok, warning, problem } = nodesFindings;
  if (nodes === null) return [];
  if (!nodes.some(({ role }) => role !== 'worker')) {
    return [
      problem(
        'no process answers requests',
        'Nobody can sign in.',
        'Start one. One that cannot write down that it runs is not seen: look at its log.',
      ),
    ];
  }
  const found: Finding[] = [];
  const versions = new Set(nodes.map(({ facts }) => facts.version));
  if (versions.size > 1) {
    found.push(
      warning(
        `versions ${[...versions].join(' and ')} run side by side`,
        'That is right for the time of an update, and for no longer.',
        'Replace the processes of the older version.',
      ),
    );
  }
  if (silent.length > 0) {
    found.push(
      warning(
        `${namesOf(silent)} ended without saying so`,
        'It was killed, its machine is gone, or it cannot write to the database.',
        'Look at its log. It is forgotten after a day.',
      ),
    );
  }
  return [...found, ok(namesOf(nodes))];
}

/** Whether what one process seals can be opened by every other one, and by the next one that starts. */
export async function checkKeys({ settings, nodes }: Examined): Promise<readonly Finding[]> {
  const { ok, problem } = keys;
  if (nodes === null) return [];
  const mine = settings.sealingKeys.map(keyIdOf);
  const holders = [
    ...nodes.map(({ facts }) => ({ name: facts.name, ids: facts.keyIds })),
    { name: 'the environment of the doctor', ids: mine },
  ];
  const cannot = holders.flatMap((one) =>
    holders
      .filter(({ ids }) => one.ids[0] !== undefined && !ids.includes(one.ids[0]))
      .map((other) => `what ${one.name} seals cannot be opened by ${other.name}`),
  );
  const [first] = cannot;
  if (first === undefined) return [ok(`every process opens what the others seal (${mine.join(', ')})`)];
  return [
    problem(
      first,
      'Keys, secrets and endpoints made by the one are lost for the other, and sign-in forms of the one fail at the other.',
      'Give all processes all keys first, and only then make another key the first one; remove the old one last.',
    ),
  ];
}

/** What has to be the same everywhere. */
type Shared = Pick<NodeFacts, 'authUrl' | 'baseUrl' | 'prefix' | 'trustedProxies'>;

function inVariables({ authUrl, baseUrl, prefix, trustedProxies }: Shared): Readonly<Record<string, string>> {
  return {
    '{authUrl}': authUrl,
    '{baseUrl}': baseUrl,
    '{prefix}': prefix,
    '{trustedProxies}': trustedProxies.join(),
  };
}

/** The variables that a process and the doctor disagree about. */
function differences({ settings, nodes }: Examined): readonly string[] {
  const mine = inVariables(settings);
  return Object.keys(mine).filter((variable) =>
    nodes?.some(({ facts }) => inVariables(facts)[variable] !== mine[variable]),
  );
}

/** Whether all processes are told the same, and what is fit for real people. */
export async function checkSettings(examined: Examined): Promise<readonly Finding[]> {
  const { ok, warning, problem } = settingsFindings;
  const { settings } = examined;
  const nodes = examined.nodes ?? [];
  const found: Finding[] = [];
  const loose = nodes.filter(({ facts }) => facts.mode !== 'production');
  if (settings.mode !== 'production' || loose.length > 0) {
    found.push(
      problem(
        `NODE_ENV is not production (${loose.length === 0 ? 'of the doctor' : namesOf(loose)})`,
        'The server starts with settings that are refused in production.',
        'Set NODE_ENV=production everywhere.',
      ),
    );
  }
  const open = nodes.filter(({ facts }) => facts.privateTargets);
  if (open.length > 0) {
    found.push(
      problem(
        `webhooks may go to private addresses (${namesOf(open)})`,
        'Partners can make the server call machines inside your network.',
        'Turn {allowPrivateTargets} off, or leave it out.',
      ),
    );
  }
  const different = differences(examined);
  if (different.length > 0) {
    found.push(
      warning(
        `${different.join(', ')} is not the same everywhere`,
        'Processes, and the doctor, disagree about what is right.',
        'Give every process the same environment, and run the doctor with it.',
      ),
    );
  }
  return found.length > 0 ? found : [ok('the same everywhere, and fit for production')];
}
