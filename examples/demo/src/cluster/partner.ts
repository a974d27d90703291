import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { demoPartner } from '../seed-partner.ts';
import { callsOf } from '../walkthrough/partner-calls.ts';
import { StepFailed } from '../walkthrough/report.ts';
import { rowsOf } from '../walkthrough/webhook-walk.ts';
import { type Books, readBooks } from './audit.ts';
import type { Cluster } from './cluster-parts.ts';
import { type Payment, payAll, replayAll } from './payments.ts';
import type { Results } from './results.ts';
import { childEnvironment, programOf } from './server-process.ts';
import { waitUntil } from './wait.ts';

/** What a killed worker held is free again after half a minute. */
const leaseEndsWithinMs = 90_000;

/** Long enough that deliveries are under way when a worker dies. */
const slownessMs = 400;

/** What the staff does at a terminal, in a process of its own. */
async function changeKyc({ env, file }: Cluster): Promise<number> {
  const handle = file.users[0]?.handle ?? '';
  const args = ['--conditions=source', programOf('./cli/main.ts')];
  args.push('users', 'kyc', handle, '--tier', '2', '--json');
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: childEnvironment(env) });
  const answer: { readonly events: readonly unknown[] } = JSON.parse(stdout);
  return answer.events.length;
}

async function payWhileTheyDie(
  cluster: Cluster,
  count: number,
  results: Results,
  say: (line: string) => void,
): Promise<readonly Payment[]> {
  const { webs, workers, receiver } = cluster;
  const [web, worker] = [webs[1], workers[1]];
  if (web === undefined || worker === undefined) throw new StepFailed('there are not two of each');
  receiver.slowness = slownessMs;
  const payments = await payAll(cluster, count, async (done) => {
    if (done === Math.ceil(count / 3)) {
      say(`kill -9 ${web.name}`);
      await web.kill();
    }
    if (done === Math.ceil((count * 2) / 3)) {
      // It has work in its hands: deliveries that a slow receiver has not answered yet.
      await waitUntil('a delivery is under way', () => receiver.underWay > 0, {
        withinMs: 20_000,
        everyMs: 10,
      });
      say(`kill -9 ${worker.name}`);
      await worker.kill();
    }
  });
  say(`start ${web.name} and ${worker.name} again`);
  await Promise.all([web.start(), worker.start()]);
  receiver.slowness = 0;
  results.add('killed with kill -9, started again', `${web.name}, ${worker.name}`, true);
  const again = payments.filter(({ tries }) => tries > 1).length;
  results.same('payments sent, with an answer', payments.length, count);
  results.add('of them sent again, because a process was gone', String(again), again > 0);
  results.same(
    'sent once more to the other process: the same transfer',
    await replayAll(cluster, payments),
    count,
  );
  return payments;
}

async function checkBooks(
  { databaseUrl }: Cluster,
  before: Books,
  payments: readonly Payment[],
  results: Results,
): Promise<void> {
  const books = await readBooks(databaseUrl, demoPartner);
  const count = payments.length;
  results.same('transfers paid', books.transfers, count);
  results.same(
    'transfers paid twice',
    books.transfers - new Set(payments.map(({ transferId }) => transferId)).size,
    0,
  );
  results.same('transfers that failed', books.failed, 0);
  results.same('accounts and movements that do not add up', books.disorders, 0);
  results.same(
    'minor units that left the account of the partner',
    Number(before.funds - books.funds),
    count * 100,
  );
}

async function checkEvents(
  { report, file, receiver }: Cluster,
  endpoint: string,
  wanted: number,
  results: Results,
): Promise<void> {
  const calls = callsOf({ report, file }, 'live');
  const deliveries = async () =>
    rowsOf(await calls.get(`/v1/partner/webhooks/${endpoint}/deliveries?limit=100`));
  let delivered = 0;
  await waitUntil(
    `${wanted} events are delivered`,
    async () => {
      delivered = (await deliveries()).filter(({ status }) => status === 'delivered').length;
      return delivered >= wanted;
    },
    { withinMs: leaseEndsWithinMs, everyMs: 700 },
  );
  const events = rowsOf(await calls.get('/v1/partner/events?limit=100'));
  const isGapFree = events.every(({ sequence }, index) => sequence === index + 1);
  results.same('events published', events.length, wanted);
  results.add('numbered', isGapFree ? 'without a gap' : 'with gaps', isGapFree);
  results.same('deliveries that ended as delivered', delivered, wanted);
  const { handled } = receiver;
  results.same('events lost', events.filter(({ id }) => !handled.has(String(id))).length, 0);
  results.same('events handled twice', [...handled.values()].filter((times) => times !== 1).length, 0);
  const refused = receiver.deliveries.filter(({ status }) => status >= 400).length;
  results.same('deliveries that did not verify', refused, 0);
  const extra = receiver.deliveries.length - wanted;
  results.add('deliveries that came again after a kill, and were recognised', String(extra), extra >= 0);
}

/** The partner pays and is told, while processes die. */
export async function walkThroughPartner(
  cluster: Cluster,
  {
    count,
    secret,
    say,
  }: { readonly count: number; readonly secret: string; readonly say: (line: string) => void },
  results: Results,
): Promise<void> {
  const { report, file, receiver, databaseUrl } = cluster;
  const calls = callsOf({ report, file }, 'live');
  const url = `${receiver.origin}/live`;
  const registered = await calls.post('/v1/partner/webhooks', { url, events: ['*'], secret });
  if (registered.status !== 201) throw new StepFailed(`the endpoint was refused: ${registered.text}`);
  const before = await readBooks(databaseUrl, demoPartner);
  const payments = await payWhileTheyDie(cluster, count, results, say);
  results.same('partners told of a changed identity check, by a command', await changeKyc(cluster), 1);
  say('waiting until everything is delivered: what the killed worker held is free after half a minute');
  await checkEvents(cluster, String(registered.body.id), count + 1, results);
  await checkBooks(cluster, before, payments, results);
}
