import { setTimeout as delay } from 'node:timers/promises';
import { readBooks } from '../../../examples/demo/src/cluster/audit.ts';
import { startServer } from '../../support/postgres/postgres-server.ts';
import { type Claim, claim, staged, until } from '../../support/proof.ts';
import { partner } from '../mix.ts';
import { deploy, populate } from './deployment.ts';
import { Load, type Rates } from './load.ts';
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

/** What came of an operation under load: somebody asked meanwhile, and nobody was failed. */
export function operation(name: string, { found, holds }: Finding, load: Load): Claim {
  const { requests, failures } = load.tallyOf(name);
  const figures = `${requests} requests, ${failures.length} failed`;
  const problems = [...failures, ...(holds ? [] : [found]), ...(requests > 0 ? [] : ['nobody asked'])];
  return { name, problems, found: found === '' ? figures : `${figures}; ${found}` };
}

/** Does every operation to a cluster under load; answers what came of each. */
export function prove(size: Size, done: (name: string) => void = () => undefined): Promise<Claim[]> {
  return staged(async (ends) => {
    const server = await startServer();
    ends.add(() => server.remove());
    const databaseUrl = server.url('app');
    const deployment = await deploy(ends, { webs: 2, workers: size.workers }, { DATABASE_URL: databaseUrl });
    const population = await populate(ends, deployment);
    const load = new Load(deployment.authUrl, population.credentials, population.browser);
    ends.add(() => load.stop());
    const scene: Scene = { ...population, deployment, load };

    const findings: (readonly [name: string, finding: Finding])[] = [];
    for (const [name, act] of operationsOf(size)) {
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
  });
}
