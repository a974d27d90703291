import { setTimeout as delay } from 'node:timers/promises';
import { countSecrets, sealIdOf } from '@ostiary/cli/doctor';
import { readableBy } from '../../../examples/reference-server/src/operations/nodes.ts';
import {
  administer,
  type Deployment,
  newSealingKey,
  type Population,
} from '../../support/deployment/deployment.ts';
import type { Load } from '../../support/deployment/load.ts';
import { jsonPost } from '../../support/http.ts';
import { until } from '../../support/proof.ts';

/** Deployment and users on which the operators' procedures run. */
export interface Scene extends Population {
  readonly deployment: Deployment;
  readonly load: Load;
}

/** Problems that a procedure left behind. */
export type Problems = readonly string[];

/** Returns the problem unless the condition holds. */
const unless = (holds: boolean, problem: string): string[] => (holds ? [] : [problem]);

/** Maximum time until a procedure takes effect, in milliseconds. */
const withinMs = 45_000;

/** Waits until a condition holds. @throws Error if the condition does not hold in time */
async function eventually(what: string, holds: () => Promise<boolean> | boolean): Promise<void> {
  if (!(await until(holds, { everyMs: 200, withinMs })))
    throw new Error(`${what}: not within ${withinMs} ms`);
}

/**
 * Delay until a new key signs, in seconds: longer than the interval at which processes and apps fetch keys.
 */
const activateAfterSeconds = 8;

/** Rotates the signing key: the new key is first published, and signs later. */
export async function rotateSigningKey({ deployment, load }: Scene): Promise<Problems> {
  const before = new Set(load.kids);
  const { kid } = await administer(deployment.env, ({ ostiary }) =>
    ostiary.admin.signingKeys.rotate({ activateAfterSeconds }),
  );
  await eventually('the new key signs', () => load.kids.has(kid));
  return unless(before.size > 0 && !before.has(kid), 'no ID token of the old key was seen');
}

/** Returns the status of a code exchange that must fail: 401 for a wrong secret, 400 for a wrong code. */
async function secretStatus({ deployment, credentials }: Scene, secret: string): Promise<number> {
  const { id, redirectUri } = credentials.client;
  const request = {
    ...{ grant_type: 'authorization_code', code: 'none', redirect_uri: redirectUri },
    ...{ client_id: id, client_secret: secret },
  };
  const response = await fetch(`${deployment.authUrl}/v1/oauth/token`, jsonPost(request));
  await response.arrayBuffer();
  return response.status;
}

/**
 * Rotates a client secret. The instances of an app switch to the new secret one after the other; the old
 * secret stays valid for the overlap, and not longer.
 */
export async function rotateClientSecret(scene: Scene, overlapSeconds: number): Promise<Problems> {
  const { deployment, credentials } = scene;
  const [old = ''] = credentials.clientSecrets;
  const { clientSecret } = await administer(deployment.env, ({ ostiary }) =>
    ostiary.admin.clients.rotateSecret(credentials.client.id, { overlapSeconds }),
  );
  const next = clientSecret ?? '';
  credentials.clientSecrets = [old, next];
  await delay(overlapSeconds * 400);
  const during = await secretStatus(scene, old);
  credentials.clientSecrets = [next];
  await eventually('the old secret is refused', async () => (await secretStatus(scene, old)) === 401);
  const after = await secretStatus(scene, next);
  return unless(during === 400 && after === 400, `${during} for the old secret, ${after} for the new one`);
}

async function keyStatus({ deployment }: Scene, key: string): Promise<number> {
  const response = await fetch(`${deployment.authUrl}/v1/partner/whoami`, { headers: { 'x-api-key': key } });
  await response.arrayBuffer();
  return response.status;
}

/** Replaces every API key of the partner with a successor. */
export async function rollApiKeys(scene: Scene, overlapSeconds: number): Promise<Problems> {
  const { deployment, credentials } = scene;
  const before = credentials.apiKeys;
  const issued = await administer(deployment.env, ({ ostiary }) =>
    Promise.all(before.map(({ id }) => ostiary.admin.apiKeys.roll(id, { overlapSeconds }))),
  );
  const after = issued.map(({ apiKey, key }) => ({ id: apiKey.id, keys: [key] }));
  credentials.apiKeys = after.map(({ id, keys }, index) => ({
    id,
    keys: [...keys, ...(before[index]?.keys ?? [])],
  }));
  await delay(overlapSeconds * 400);
  const [old = ''] = before[0]?.keys ?? [];
  const during = await keyStatus(scene, old);
  credentials.apiKeys = after;
  await eventually('the old key is refused', async () => (await keyStatus(scene, old)) === 401);
  return unless(during === 200, `${during} for the old key`);
}

/**
 * Stops every process gracefully and restarts the process with other settings, one of each kind at a time.
 * @returns the exit codes of the processes
 */
async function restartAll(
  { webs, workers }: Deployment,
  changes: Readonly<Record<string, string>>,
): Promise<readonly (number | null)[]> {
  const codes: (number | null)[] = [];
  const waves = Array.from({ length: Math.max(webs.length, workers.length) }, (_, index) =>
    [webs[index], workers[index]].filter((one) => one !== undefined),
  );
  for (const wave of waves) {
    codes.push(...(await Promise.all(wave.map((one) => one.restart(changes)))));
    // Let the balancer notice before the next process stops.
    await delay(600);
  }
  return codes;
}

/** Waits until no stored secret is sealed (encrypted) with the old key, according to `ostiary doctor`. */
async function untilSealedAnew({ deployment }: Scene, keys: readonly string[]): Promise<void> {
  const current = sealIdOf(keys[0] ?? '');
  await administer({ ...deployment.env, OSTIARY_SEALING_KEYS: keys.join() }, ({ database, now }) =>
    eventually(
      'everything is sealed anew',
      async () => (await countSecrets(readableBy(database), current, now())).length === 0,
    ),
  );
}

/**
 * Rotates the sealing key in three rounds of restarts: in the first every process learns the new key, in the
 * second the processes seal with the new key, and in the third, when no secret needs the old key, the old key
 * is removed.
 */
export async function rotateSealingKey(scene: Scene): Promise<Problems> {
  const { deployment } = scene;
  const [old, next] = [deployment.sealingKey, newSealingKey()];
  const codes: (number | null)[] = [];
  for (const keys of [`${old},${next}`, `${next},${old}`])
    codes.push(...(await restartAll(deployment, { OSTIARY_SEALING_KEYS: keys })));
  await untilSealedAnew(scene, [next, old]);
  codes.push(...(await restartAll(deployment, { OSTIARY_SEALING_KEYS: next })));
  deployment.env = { ...deployment.env, OSTIARY_SEALING_KEYS: next };
  // Check that webhooks are signed with a secret that only the new key opens.
  const told = await toldOfNext(scene);
  return [
    ...unless(told, 'webhooks stopped without the old key'),
    ...codes.flatMap((code) => unless(code === 0, `a process ended with ${code}`)),
  ];
}

/**
 * Waits until the partner gets the event of the next transfer that the load makes. Returns false if none
 * comes in time.
 */
function toldOfNext({ load: { mix }, receiver }: Scene): Promise<boolean> {
  const count = mix.transfers.length;
  return until(() => receiver.seen.has(mix.transfers[count] ?? ''), { everyMs: 200, withinMs });
}
