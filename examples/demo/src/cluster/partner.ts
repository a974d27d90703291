import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { demoPartner } from '../seed.ts';
import { callsOf, rowsOf } from '../walkthrough/calls.ts';
import { eventually, found } from '../walkthrough/found.ts';
import { StepFailed } from '../walkthrough/report.ts';
import { type Books, readBooks } from './audit.ts';
import type { Cluster } from './cluster-parts.ts';
import { type Payment, payAll, replayAll } from './payments.ts';
import { childEnvironment, programOf } from './server-process.ts';

/** What a killed worker held is free again after half a minute. */
const leaseEndsWithinMs = 90_000;

/** Long enough that deliveries are under way when a worker dies. */
const slownessMs = 400;

/** What the staff does at a terminal, in a process of its own. Answers how many partners are told. */
async function changeKyc({ env, file }: Cluster): Promise<number> {
  const handle = found(file.users[0], 'user').handle;
  const args = [...programOf('./cli/main.ts'), 'users', 'kyc', handle, '--tier', '2', '--json'];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: childEnvironment(env) });
  return JSON.parse(stdout).events.length;
}

async function payWhileTheyDie(cluster: Cluster, count: number): Promise<readonly Payment[]> {
  const { receiver, results, say } = cluster;
  const web = found(cluster.webs[1], 'second web process');
  const worker = found(cluster.workers[1], 'second worker');
  receiver.state.slowness = slownessMs;
  const payments = await payAll(cluster, count, async (done) => {
    if (done === Math.ceil(count / 3)) {
      say(`kill -9 ${web.name}`);
      await web.kill();
    }
    if (done === Math.ceil((count * 2) / 3)) {
      // It has work in its hands: deliveries that a slow receiver has not answered yet.
      const underWay = () => receiver.state.underWay || undefined;
      await eventually('a delivery is under way', underWay, { withinMs: 20_000, everyMs: 10 });
      say(`kill -9 ${worker.name}`);
      await worker.kill();
    }
  });
  say(`start ${web.name} and ${worker.name} again`);
  await Promise.all([web.start(), worker.start()]);
  receiver.state.slowness = 0;
  results.add('killed with kill -9, started again', `${web.name}, ${worker.name}`, true);
  const again = payments.filter(({ tries }) => tries > 1).length;
  results.same('payments sent, with an answer', payments.length, count);
  results.add('of them sent again, because a process was gone', String(again), again > 0);
  const replayed = await replayAll(cluster, payments);
  results.same('sent once more to the other process: the same transfer', replayed, count);
  return payments;
}

async function checkBooks(
  { databaseUrl, results }: Cluster,
  before: Books,
  payments: readonly Payment[],
): Promise<void> {
  const { transfers, failed, disorders, funds } = await readBooks(databaseUrl, demoPartner);
  const count = payments.length;
  const distinct = new Set(payments.map(({ transferId }) => transferId)).size;
  results.same('transfers paid', transfers, count);
  results.same('transfers paid twice', transfers - distinct, 0);
  results.same('transfers that failed', failed, 0);
  results.same('accounts and movements that do not add up', disorders, 0);
  const spent = Number(before.funds - funds);
  results.same('minor units that left the account of the partner', spent, count * 100);
}

async function checkEvents(cluster: Cluster, endpoint: string, wanted: number): Promise<void> {
  const { receiver, results } = cluster;
  const calls = callsOf(cluster, 'live');
  const delivered = await eventually(
    `${wanted} events are delivered`,
    async () => {
      const deliveries = rowsOf(await calls.get(`webhooks/${endpoint}/deliveries?limit=100`));
      const count = deliveries.filter(({ status }) => status === 'delivered').length;
      return count >= wanted ? count : undefined;
    },
    { withinMs: leaseEndsWithinMs, everyMs: 700 },
  );
  const events = rowsOf(await calls.get('events?limit=100'));
  const isGapFree = events.every(({ sequence }, index) => sequence === index + 1);
  const { handled, deliveries } = receiver;
  results.same('events published', events.length, wanted);
  results.add('numbered', isGapFree ? 'without a gap' : 'with gaps', isGapFree);
  results.same('deliveries that ended as delivered', delivered, wanted);
  results.same('events lost', events.filter(({ id }) => !handled.has(String(id))).length, 0);
  results.same('events handled twice', [...handled.values()].filter((times) => times !== 1).length, 0);
  const refused = deliveries.filter(({ status }) => status >= 400).length;
  results.same('deliveries that did not verify', refused, 0);
  const extra = deliveries.length - wanted;
  results.add('deliveries that came again after a kill, and were recognised', String(extra), extra >= 0);
}

/** The partner pays and is told, while processes die. */
export async function walkThroughPartner(cluster: Cluster, count: number, secret: string): Promise<void> {
  const { receiver, databaseUrl, results, say } = cluster;
  const endpoint = { url: `${receiver.origin}/live`, events: ['*'], secret };
  const { status, body, text } = await callsOf(cluster, 'live').post('webhooks', endpoint);
  if (status !== 201) throw new StepFailed(`the endpoint was refused: ${text}`);
  const before = await readBooks(databaseUrl, demoPartner);
  const payments = await payWhileTheyDie(cluster, count);
  results.same('partners told of a changed identity check, by a command', await changeKyc(cluster), 1);
  say('waiting until everything is delivered: what the killed worker held is free after half a minute');
  await checkEvents(cluster, String(body.id), count + 1);
  await checkBooks(cluster, before, payments);
}
