import { keyScopes } from '@ostiary/core/admin';
import { expect } from 'vitest';
import { z } from 'zod';
import type { Installation } from '../../../../examples/reference-server/src/installation.ts';
import {
  anaika,
  environment,
  jean,
  start,
} from '../../../../examples/reference-server/test/support/server.ts';

const identified = z.object({ id: z.string() });
const listed = z.object({ data: z.array(identified) });

/** Id of a request in the examples of the help. */
const exampleRequest = '5b1f0c9e-7d3a-4826-9f00-0c9e7d3a4826';

/** Sends a request with a test key, and returns the request's id once the request is in the log. */
async function loggedRequest({ admin }: Installation['ostiary'], origin: string): Promise<string> {
  const owner = { partner: 'kafe', mode: 'test' } as const;
  const { key } = await admin.apiKeys.issue({ ...owner, scopes: [...keyScopes] });
  const response = await fetch(`${origin}/v1/partner/whoami`, { headers: { 'X-API-Key': key } });
  const id = response.headers.get('X-Request-Id') ?? '';
  await expect.poll(() => admin.requests.get(owner, id), { timeout: 10_000 }).not.toBeNull();
  return id;
}

/**
 * Creates a partner with a key, an endpoint, a payment, an event, a link to its live portal and a request,
 * and returns the ids of all six.
 */
async function partnerOf({ ostiary, ledger }: Installation, origin: string, kid: string) {
  await ostiary.admin.partners.create({ slug: 'kafe', name: 'Kafe Lakay' });
  await ledger.fund('kafe', '1250.00', 'HTG');
  const { key, apiKey } = await ostiary.admin.apiKeys.issue({
    partner: 'kafe',
    mode: 'live',
    scopes: [...keyScopes],
  });
  const ask = async (path: string, body?: object): Promise<unknown> => {
    const response = await fetch(`${origin}/v1/partner${path}`, {
      headers: { 'X-API-Key': key, 'Content-Type': 'application/json', 'Idempotency-Key': path },
      ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
    return response.json();
  };
  const hook = { url: 'https://127.0.0.1:9/', events: ['*'], secret: 'a secret of the tests' };
  const endpoint = identified.parse(await ask('/webhooks', hook));
  const payment = identified.parse(
    await ask('/payments', { amount: '1.00', currency: 'HTG', recipient: { kid } }),
  );
  const firstEvent = async () => listed.parse(await ask('/events')).data[0]?.id;
  await expect.poll(firstEvent).toBeDefined();
  const link = await ostiary.admin.portal.link({ partner: 'kafe', rights: 'view' });
  return {
    ...{ key_: apiKey.id, we_: endpoint.id, evt_: (await firstEvent()) ?? '', tr_: payment.id },
    ps_: link.id,
    [exampleRequest]: await loggedRequest(ostiary, origin),
  };
}

/**
 * Starts a server on a new database with the objects that commands of the help name (the user anaika, a
 * client and a partner kafe), except objects that the command itself creates.
 * @param words words of the command's name
 */
export async function installationFor([noun, verb]: readonly string[]): Promise<{
  readonly env: NodeJS.ProcessEnv;
  /** Ids of existing objects, by prefixes such as `key_`, and of a request, by its id in the examples. */
  readonly ids: Readonly<Record<string, string>>;
}> {
  const env = await environment({ OSTIARY_WEBHOOK_PRIVATE_TARGETS: 'on' });
  const server = await start(env);
  const { installation } = server;
  const origin = `http://localhost:${server.port}`;
  const creates = verb === 'create' ? noun : undefined;
  const { kid, sub } = await installation.accounts.create({ ...anaika, ...(creates === 'users' && jean) });
  if (creates !== 'clients')
    await installation.ostiary.admin.clients.create({
      clientId: 'kafe',
      name: 'Kafe Lakay',
      redirectUris: ['https://kafe.example/callback'],
      allowedScopes: ['openid'],
    });
  if (noun === 'staff' && verb !== 'invite') await installation.staff.invite('ana@example.com', 'admin');
  const ofPartner = creates === 'partners' ? {} : await partnerOf(installation, origin, kid);
  // Close the server, because a move needs exclusive use of the file.
  if (noun === 'move') await server.close();
  return { env, ids: { usr_: sub, ...ofPartner } };
}
