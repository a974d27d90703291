import fc from 'fast-check';
import { type Claim, claim, eachOf } from '../../support/proof.ts';
import { type Stage, setStage } from './stage.ts';
import { type Shot, targets } from './targets.ts';

/** Number of simultaneous random requests. */
const atOnce = 8;

/** Number of random requests that are made from one seed. */
const batch = 500;

/**
 * Maximum growth of the application's heap (after a garbage collection) from one target's requests to the
 * next, in bytes.
 */
const allowance = 16 * 1024 * 1024;

/** Result of the random requests to one endpoint or parser. */
export interface Report {
  readonly target: string;
  readonly requests: number;
  /** Number of responses for each result, such as `400 invalid_request`. */
  readonly outcomes: ReadonlyMap<string, number>;
  readonly problems: readonly string[];
  /** Heap of the application after the requests and a garbage collection, in bytes. */
  readonly heapBytes: number;
}

const errorIn = (text: string): string | undefined => /"error":"(\w+)"/.exec(text)?.[1];

/** Sends a random request. Returns the result, with a problem if the response is not as documented. */
async function send(stage: Stage, { kind, path, headers = {}, body, document }: Shot) {
  if (document !== undefined) stage.serve(document.path, document.served);
  const sent = typeof body === 'string' ? stage.withGrants(body) : body;
  const response = await fetch(`${stage.host.origin}${path}`, {
    ...{ method: body === undefined ? 'GET' : 'POST', headers, redirect: 'manual' },
    ...(sent !== undefined && { body: sent }),
  });
  const [status, text] = [response.status, await response.text()];
  const location = response.headers.get('location');
  const problem = kind({
    ...{ origin: stage.host.origin, status, location, text },
    cacheControl: response.headers.get('cache-control'),
  });
  if (typeof body === 'string' && (status === 200 || /"invalid_grant"/.test(text))) await stage.renew(body);
  const error = status === 303 ? URL.parse(location ?? '')?.searchParams.get('error') : errorIn(text);
  const request = JSON.stringify({ path, headers, body: body instanceof Uint8Array ? [...body] : body });
  return {
    outcome: `${status} ${error ?? 'ok'}`,
    problem: problem === null ? null : `${problem}: ${request.slice(0, 1_500)} ${text.slice(0, 300)}`,
  };
}

/** Sends the random requests of one target, and reads the application's memory and error log. */
async function attack(stage: Stage, target: string, requests: number, seed: number): Promise<Report> {
  const outcomes = new Map<string, number>();
  const problems: string[] = [];
  const shots = targets[target]?.(stage);
  if (shots === undefined) throw new TypeError(`there is no target ${target}`);
  for (let done = 0; done < requests; done += batch) {
    const numRuns = Math.min(batch, requests - done);
    const sample = fc.sample(shots, { numRuns, seed: seed + done });
    const results = await eachOf(sample, atOnce, (shot) => send(stage, shot));
    for (const { outcome, problem } of results) {
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      if (problem !== null) problems.push(problem);
    }
  }
  const { heapBytes, errors } = await stage.report();
  return { target, requests, outcomes, problems: [...problems, ...errors], heapBytes };
}

/** Size of a run of the fuzz proof. */
export interface Size {
  /** Number of random requests to each endpoint or parser. */
  readonly requests: number;
  readonly seed: number;
}

/** Sends random requests to every target, and then checks that the application still serves its users. */
export async function prove(
  { requests, seed }: Size,
  tell: (report: Report) => void = () => undefined,
): Promise<{ readonly claims: readonly Claim[]; readonly reports: readonly Report[] }> {
  await using ends = new AsyncDisposableStack();
  const stage = await setStage(ends);
  const reports: Report[] = [];
  const claims: Claim[] = [];
  // Loads the code that only some requests need, before memory is measured.
  for (const target of Object.keys(targets)) await attack(stage, target, Math.min(requests, 200), seed + 1);
  let { heapBytes: before } = await stage.report();
  for (const target of Object.keys(targets)) {
    const report = await attack(stage, target, requests, seed);
    tell(report);
    reports.push(report);
    claims.push({
      name: `${target}: no 5xx, and each error in its documented form`,
      ...{ problems: report.problems, found: `${report.requests} requests` },
    });
    const grown = (report.heapBytes - before) / 1024 / 1024;
    const found = `${grown.toFixed(1)} MiB more`;
    claims.push(claim(`${target}: memory is bounded`, grown * 1024 * 1024 < allowance, found));
    before = report.heapBytes;
  }
  const code = await stage.newCode();
  claims.push(claim('afterwards a user signs in', code !== '', 'a code was issued'));
  return { claims, reports };
}
