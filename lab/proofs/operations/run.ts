import { setTimeout as delay } from 'node:timers/promises';
import { readBooks } from '../../../examples/demo/src/cluster/audit.ts';
import { startServer } from '../../support/postgres/postgres-server.ts';

import { deploy } from './deployment.ts';
import { Load, type Rates } from './load.ts';
import { partner, provision } from './provision.ts';
import { TransferReceiver } from './receiver.ts';
import {
  type Finding,
  restartInTurns,
  rollApiKeys,
  rotateClientSecret,
  rotateSealingKey,
  rotateSigningKey,
  type Scene,
  updateInTurns,
} from './rotations.ts';
import { until } from './until.ts';

/** One line of the table. */
export interface Line extends Finding {
  readonly name: string;
  /** `null` where nobody asks anything. */
  readonly requests: number | null;
  readonly failures: readonly string[];
}

/** How much is done. */
export interface Size {
  readonly workers: number;
  readonly rates: Rates;
  /** For which old secrets and keys go on working. */
  readonly overlapSeconds: number;
  readonly quietSeconds: number;
  /** Rotates everything that needs no restart at the same time, and restarts nothing for no reason. */
  readonly isShort: boolean;
}

type Operations = readonly (readonly [name: string, act: (scene: Scene) => Promise<Finding>])[];

async function all(findings: readonly Promise<Finding>[]): Promise<Finding> {
  const found = await Promise.all(findings);
  return {
    found: found.map((one) => one.found).join('; '),
    holds: found.every(({ holds }) => holds),
  };
}

function operationsOf({ overlapSeconds, quietSeconds, isShort }: Size): Operations {
  const quiet = async (): Promise<Finding> => {
    await delay(quietSeconds * 1000);
    return { found: '', holds: true };
  };
  const secret = (scene: Scene): Promise<Finding> => rotateClientSecret(scene, overlapSeconds);
  const keys = (scene: Scene): Promise<Finding> => rollApiKeys(scene, overlapSeconds);
  if (isShort)
    return [
      ['nothing is done', quiet],
      ['keys and secrets', (scene) => all([rotateSigningKey(scene), secret(scene), keys(scene)])],
      ['sealing key changed', rotateSealingKey],
    ];
  return [
    ['nothing is done', quiet],
    ['signing key rotated', rotateSigningKey],
    ['client secret rotated', secret],
    ['API keys rolled', keys],
    ['sealing key changed', rotateSealingKey],
    ['every process restarted', restartInTurns],
    ['updated to the same version', updateInTurns],
  ];
}

/** Does every operation to a cluster under load; answers what came of each. */
export async function prove(size: Size, done: (name: string) => void = () => undefined): Promise<Line[]> {
  const ends: (() => Promise<unknown>)[] = [];
  try {
    const server = await startServer();
    ends.push(() => server.remove());
    const databaseUrl = server.url('app');
    const deployment = await deploy({ webs: 2, workers: size.workers }, { DATABASE_URL: databaseUrl });
    ends.push(() => deployment.stop());
    const receiver = new TransferReceiver();
    ends.push(() => receiver.close());
    const credentials = await provision(deployment, receiver);
    const load = new Load(deployment.authUrl, credentials, receiver);
    ends.push(() => load.stop());
    const scene = { deployment, credentials, load };

    const lines: { name: string; finding: Finding }[] = [];
    for (const [name, act] of operationsOf(size)) {
      load.begin(name);
      if (lines.length === 0) await load.start(size.rates);
      lines.push({ name, finding: await act(scene) });
      done(name);
    }
    await load.stop();
    const counted = lines.map(({ name, finding }) => {
      const { requests, failures } = load.tallyOf(name);
      return { name, requests, failures, ...finding };
    });
    const { transfers } = load;
    await until('every transfer is told', () => transfers.every((id) => receiver.completed.has(id))).catch(
      () => undefined,
    );
    const untold = transfers.filter((id) => !receiver.completed.has(id)).length;
    const books = await readBooks(databaseUrl, partner);
    const balanced = books.disorders === 0 && books.transfers === transfers.length;
    const { answeredBy } = deployment.balancer;
    const answered = deployment.webs.map(({ name }) => [name, answeredBy.filter((by) => by === name).length]);
    return [
      ...counted,
      looked('webhooks', `${transfers.length} transfers, ${untold} not told`, untold === 0),
      looked('', `${receiver.rejected.length} deliveries did not verify`, receiver.rejected.length === 0),
      looked('ledger', `${books.transfers} paid, ${books.disorders} disorders`, balanced),
      looked(
        'answered by',
        answered.map(([name, count]) => `${name}: ${count}`).join(', '),
        answered.every(([, count]) => count !== 0),
      ),
    ];
  } finally {
    for (const end of ends.reverse()) await end().catch(() => undefined);
  }
}

function looked(name: string, found: string, holds: boolean): Line {
  return { name, requests: null, failures: [], found, holds };
}

/** What does not hold. */
export function violationsOf(lines: readonly Line[]): string[] {
  return lines.flatMap(({ name, failures, found, holds }) => [
    ...failures.map((failure) => `${name}: ${failure}`),
    ...(holds ? [] : [`${name}: ${found}`]),
  ]);
}
