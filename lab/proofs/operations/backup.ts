import { type Claim, until } from '../../support/proof.ts';
import { deploy, populate, type Size } from './deployment.ts';
import { Load, type Rates } from './load.ts';

/** A restored backup. */
export interface Restored {
  /** Settings that lead to it. */
  readonly store: Readonly<Record<string, string>>;
  /** What it holds otherwise than it should. */
  readonly problems: readonly string[];
}

/** A database that can be backed up while it is used. */
export interface Source {
  readonly name: string;
  readonly size: Size;
  readonly store: Readonly<Record<string, string>>;
  /** Makes a backup, as documented, and restores it somewhere else. */
  copy(): Promise<Restored>;
  /** Movements, accounts and currencies of the restored ledger that do not add up. */
  disorders(): Promise<number>;
}

const withinMs = 45_000;

async function works(work: Promise<unknown>): Promise<boolean> {
  return work.then(
    () => true,
    () => false,
  );
}

/** Backs up while everybody goes on, restores, and starts a server on what was restored. */
export async function proveBackup(
  { name, size, store, copy, disorders }: Source,
  rates: Rates,
): Promise<Claim> {
  await using ends = new AsyncDisposableStack();
  const first = ends.use(new AsyncDisposableStack());
  const deployment = await deploy(first, size, store);
  const population = await populate(ends, deployment);
  const { credentials, browser, receiver } = population;
  const load = new Load(deployment.authUrl, credentials, browser);
  ends.defer(() => load.stop());
  load.begin(name);
  await load.start(rates);
  await until(() => load.mix.transfers.length >= 3 * rates.payment, { withinMs });
  const before = [...load.mix.transfers];
  const restored = await copy();
  await load.stop();

  // The same settings and another database: what a team does when the first one is lost.
  await first.disposeAsync();
  const again = await deploy(ends, size, restored.store, deployment.sealingKey);
  const { mix } = new Load(again.authUrl, credentials, browser);
  const found = await disorders();
  const isAlive = await works(mix.userinfo(load.mix.firstToken));
  const known = await Promise.all(before.map((id) => works(mix.knows(id))));
  await mix.payment();
  const told = await until(() => mix.transfers.every((id) => receiver.seen.has(id)), { withinMs });
  const lost = known.filter((is) => !is).length;
  const { requests, failures } = load.tallyOf(name);
  return {
    name,
    problems: [
      ...failures,
      ...restored.problems,
      ...(before.length > 0 && lost === 0 ? [] : [`${lost} of ${before.length} transfers are lost`]),
      ...(found === 0 ? [] : [`${found} disorders in the ledger`]),
      ...(isAlive ? [] : ['a token of before is dead']),
      ...(told ? [] : ['no webhook came']),
    ],
    found: `${requests} requests, ${before.length} transfers before, one told after`,
  };
}
