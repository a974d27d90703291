/**
 * Tests the built package in one JavaScript runtime, and reports the results. Every runtime runs this file.
 */
import type * as Package from '@ostiary/webhook-verifier';
import { type Case, casesOf, runCases } from '../../../packages/webhook-verifier/test/cases/cases.ts';
import vectorsFile from '../../../packages/webhook-verifier/vectors.json' with { type: 'json' };

/** Report of the tests in one JavaScript runtime. */
export interface Report {
  readonly passed: number;
  readonly failures: readonly string[];
  /** Number of signature verifications that used WebCrypto; 0 if the runtime has `node:crypto`. */
  readonly webVerifications: number;
}

/**
 * Starts to count the calls of WebCrypto, if the runtime has WebCrypto. Returns a function that returns the
 * number.
 */
function countVerifications(): () => number {
  const subtle = globalThis.crypto?.subtle;
  if (subtle === undefined) return () => 0;
  let count = 0;
  const { verify } = subtle;
  subtle.verify = (...given: Parameters<typeof verify>) => {
    count += 1;
    return verify.apply(subtle, given);
  };
  return () => count;
}

const secret = 'correct horse battery staple';

/** Builds a webhook delivery that is signed now. */
function signed({ signWebhook }: typeof Package) {
  const body = JSON.stringify({ id: 'evt_1', type: 'webhook.test', data: { message: 'é' } });
  const timestamp = Math.floor(Date.now() / 1000);
  return signWebhook(body, { secret, id: 'evt_1', type: 'webhook.test', timestamp, partner: 'acme' });
}

/** Tests the webhook receiver for Fetch requests; the second delivery is a duplicate. */
async function fetchDelivery({ main, fetch, dedupe }: Loaded): Promise<void> {
  const delivery = await signed(main);
  let handled = 0;
  const answer = fetch.webhook({ secret, dedupe: dedupe.memoryDedupe() }, () => (handled += 1));
  const post = () => answer(new Request('http://localhost/', { method: 'POST', ...delivery }));
  const statuses = [(await post()).status, (await post()).status];
  if (`${statuses}` !== '200,200' || handled !== 1)
    throw new Error(`answered ${statuses}, handled ${handled}`);
}

/** Entry points of the package that need no framework. */
interface Loaded {
  readonly main: typeof Package;
  readonly fetch: typeof import('@ostiary/webhook-verifier/fetch');
  readonly dedupe: typeof import('@ostiary/webhook-verifier/dedupe');
  readonly overHttp: (() => Promise<void>) | null;
}

/** Runs the tests of one JavaScript runtime. `load` imports the package by its name, as a user does. */
export async function run(load: Loaded): Promise<Report> {
  const verifications = countVerifications();
  const vectors = vectorsFile.cases as unknown as Parameters<typeof casesOf>[1];
  const cases: Case[] = [
    ...casesOf(load.main, vectors),
    { name: 'a receiver of Fetch requests', run: () => fetchDelivery(load) },
  ];
  if (load.overHttp !== null) cases.push({ name: 'a receiver of Node requests', run: load.overHttp });
  const { passed, failures } = await runCases(cases);
  return { passed, failures, webVerifications: verifications() };
}

/** Sends a delivery over `node:http` to the webhook receiver for Express. */
export async function nodeDelivery(
  main: typeof Package,
  express: typeof import('@ostiary/webhook-verifier/express'),
  http: typeof import('node:http'),
): Promise<void> {
  const receive = express.webhook({ secret }, () => undefined);
  const server = http.createServer((request, response) => {
    receive(request, response, (error) => response.destroy(error as Error));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const { port } = server.address() as { port: number };
    const delivery = await signed(main);
    const statuses: number[] = [];
    for (const sent of [delivery, { ...delivery, body: new Uint8Array([...delivery.body, 32]) }]) {
      const headers = { ...sent.headers, Connection: 'close' };
      const response = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers, body: sent.body });
      await response.text();
      statuses.push(response.status);
    }
    if (`${statuses}` !== '200,400') throw new Error(`answered ${statuses}`);
  } finally {
    server.close();
  }
}
