import { deploy, populate, type Size } from '../../support/deployment/deployment.ts';
import { Load, type Rates } from '../../support/deployment/load.ts';
import { openBalancer } from '../../support/processes/balancer.ts';
import { type Claim, until } from '../../support/proof.ts';

/** A deployment whose database can be backed up while the servers use it. */
export interface Source {
  readonly name: string;
  readonly size: Size;
  readonly store: Readonly<Record<string, string>>;
  /**
   * Makes a backup as the documentation says, and restores the backup into another database. @returns the
   * settings for the restored database
   */
  copy(): Promise<Readonly<Record<string, string>>>;
  /** Counts movements, accounts and currencies of the restored ledger whose amounts do not add up. */
  disorders(): Promise<number>;
}

const withinMs = 45_000;

/**
 * Makes a backup while the clients continue, restores the backup, and starts a server on the restored
 * database.
 */
export async function proveBackup(
  { name, size, store, copy, disorders }: Source,
  rates: Rates,
): Promise<Claim> {
  await using ends = new AsyncDisposableStack();
  const first = ends.use(new AsyncDisposableStack());
  const deployment = await deploy(first, size, store, openBalancer);
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

  // Use the same settings with the restored database, as a team does after losing the first one.
  await first.disposeAsync();
  const again = await deploy(ends, size, restored, openBalancer, deployment.sealingKey);
  const { mix } = new Load(again.authUrl, credentials, browser);
  const found = await disorders();
  // Tokens and transfers from before the backup still exist.
  const asked = [mix.userinfo(load.mix.firstToken), ...before.map((id) => mix.knows(id))];
  const answers = await Promise.allSettled(asked);
  await mix.payment();
  const told = await until(() => mix.transfers.every((id) => receiver.seen.has(id)), { withinMs });
  const { requests, failures } = load.tallyOf(name);
  return {
    name,
    problems: [
      ...failures,
      ...answers.flatMap((answer) => (answer.status === 'rejected' ? [String(answer.reason)] : [])),
      ...(before.length > 0 ? [] : ['there was no transfer before']),
      ...(found === 0 ? [] : [`${found} disorders in the ledger`]),
      ...(told ? [] : ['no webhook came']),
    ],
    found: `${requests} requests, ${before.length} transfers before, one told after`,
  };
}
