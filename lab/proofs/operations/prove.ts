import { setTimeout as delay } from 'node:timers/promises';
import { readBooks } from '../../support/deployment/books.ts';
import { deploy, populate } from '../../support/deployment/deployment.ts';
import { Load, type Rates } from '../../support/deployment/load.ts';
import { partner } from '../../support/deployment/mix.ts';
import { startServer } from '../../support/postgres/postgres-server.ts';
import { openBalancer } from '../../support/processes/balancer.ts';
import { type Claim, claim, until } from '../../support/proof.ts';
import {
  type Problems,
  rollApiKeys,
  rotateClientSecret,
  rotateSealingKey,
  rotateSigningKey,
  type Scene,
} from './rotations.ts';

/** Size of a run of the operations proof. */
interface Size {
  readonly workers: number;
  readonly rates: Rates;
  /** Time for which replaced secrets and keys remain valid, in seconds. */
  readonly overlapSeconds: number;
  readonly quietSeconds: number;
}

function operationsOf({
  overlapSeconds,
  quietSeconds,
}: Size): Readonly<Record<string, (scene: Scene) => Promise<Problems>>> {
  return {
    async 'nothing is done'() {
      await delay(quietSeconds * 1000);
      return [];
    },
    'signing key rotated': rotateSigningKey,
    'client secret rotated': (scene) => rotateClientSecret(scene, overlapSeconds),
    'API keys rolled': (scene) => rollApiKeys(scene, overlapSeconds),
    'sealing key changed': rotateSealingKey,
  };
}

/**
 * Makes the guarantee of a procedure under load: requests were made during the procedure, and none failed.
 */
function operation(name: string, found: Problems, load: Load): Claim {
  const { requests, failures } = load.tallyOf(name);
  const problems = [...failures, ...found, ...(requests > 0 ? [] : ['nobody asked'])];
  return { name, problems, found: `${requests} requests, ${failures.length} failed` };
}

/**
 * Runs every procedure of the operators on a cluster under load, and returns the guarantees with their
 * results.
 */
export async function prove(size: Size, done: (name: string) => void = () => undefined): Promise<Claim[]> {
  await using ends = new AsyncDisposableStack();
  const server = await startServer();
  ends.defer(() => server.remove());
  const databaseUrl = server.url('app');
  const deployment = await deploy(
    ends,
    { webs: 2, workers: size.workers },
    { DATABASE_URL: databaseUrl },
    openBalancer,
  );
  const population = await populate(ends, deployment);
  const load = new Load(deployment.authUrl, population.credentials, population.browser);
  ends.defer(() => load.stop());
  const scene: Scene = { ...population, deployment, load };

  const findings: (readonly [name: string, finding: Problems])[] = [];
  for (const [name, act] of Object.entries(operationsOf(size))) {
    load.begin(name);
    if (findings.length === 0) await load.start(size.rates);
    findings.push([name, await act(scene)]);
    done(name);
  }
  await load.stop();
  const { transfers } = load.mix;
  const { seen, rejected } = population.receiver;
  await until(() => transfers.every((id) => seen.has(id)));
  const untold = transfers.filter((id) => !seen.has(id)).length;
  const books = await readBooks(databaseUrl, partner);
  const balanced = books.disorders === 0 && books.transfers === transfers.length;
  const { answeredBy } = deployment.balancer;
  const answered = deployment.webs.map(({ name }) => answeredBy.filter((by) => by === name).length);
  return [
    ...findings.map(([name, finding]) => operation(name, finding, load)),
    claim('every transfer is told', untold === 0, `${transfers.length} transfers, ${untold} not told`),
    { name: 'every delivery verifies', problems: rejected },
    claim('every transfer is paid once', balanced, `${books.transfers} paid, ${books.disorders} disorders`),
    claim('every web process answered', !answered.includes(0), answered.join(' and ')),
  ];
}
