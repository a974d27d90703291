import { setTimeout as delay } from 'node:timers/promises';
import { deploy } from './deployment.ts';
import { Load, type Rates } from './load.ts';
import { provision } from './provision.ts';
import { TransferReceiver } from './receiver.ts';
import type { Line } from './run.ts';
import { until } from './until.ts';

/** What a backup has to hold, and what is wrong with what it holds. */
export interface Restored {
  /** Settings that lead to it. */
  readonly store: Readonly<Record<string, string>>;
  /** Rows in all tables together. */
  readonly rows: number;
  /** Tables that have another number of rows than they had when the backup was made. */
  readonly different: readonly string[];
}

/** A database that can be backed up while it is used. */
export interface Source {
  readonly name: string;
  readonly size: Parameters<typeof deploy>[0];
  readonly store: Readonly<Record<string, string>>;
  /** Makes a backup, as documented, and restores it somewhere else. */
  copy(): Promise<Restored>;
  /** Movements, accounts and currencies of the restored ledger that do not add up. */
  disorders(): Promise<number>;
}

/** Backs up while everybody goes on, restores, and starts a server on what was restored. */
export async function proveBackup(source: Source, rates: Rates): Promise<Line> {
  const ends: (() => Promise<unknown>)[] = [];
  try {
    const deployment = await deploy(source.size, source.store);
    ends.push(() => deployment.stop());
    const receiver = new TransferReceiver();
    ends.push(() => receiver.close());
    const credentials = await provision(deployment, receiver);
    const load = new Load(deployment.authUrl, credentials, receiver);
    ends.push(() => load.stop());
    load.begin(source.name);
    await load.start(rates);
    await until('there is something to back up', () => load.transfers.length >= 3 * rates.payment);
    const before = [...load.transfers];
    const { store, rows, different } = await source.copy();
    await delay(500);
    await load.stop();
    const { requests, failures } = load.tallyOf(source.name);
    const token = load.firstToken;

    // The same settings and another database: what a team does when the first one is lost.
    await deployment.stop();
    const again = await deploy(source.size, store, deployment.sealingKey);
    ends.push(() => again.stop());
    const disorders = await source.disorders();
    const revived = new Load(again.authUrl, credentials, receiver);
    const works = async (work: () => Promise<void>): Promise<boolean> =>
      work().then(
        () => true,
        () => false,
      );
    const token200 = await works(() => revived.userinfo(token));
    const known = await Promise.all(before.map((id) => works(() => revived.knows(id))));
    await revived.pay();
    const [transfer = ''] = revived.transfers;
    const told = await works(() => until('the partner is told', () => receiver.completed.has(transfer)));
    const lost = known.filter((is) => !is).length;
    const parts: readonly (readonly [boolean, string, string])[] = [
      [different.length === 0, `${rows} rows`, `other rows in ${different.join(', ')}`],
      [lost === 0, `${before.length} transfers`, `${lost} transfers lost`],
      [disorders === 0, 'ledger balanced', `${disorders} disorders in the ledger`],
      [token200, 'token alive', 'token dead'],
      [told, 'payment and webhook', 'no webhook'],
    ];
    return {
      name: source.name,
      requests,
      failures,
      found: parts.map(([holds, good, bad]) => (holds ? good : bad)).join(', '),
      holds: parts.every(([holds]) => holds),
    };
  } finally {
    for (const end of ends.reverse()) await end().catch(() => undefined);
  }
}
