import { CompactSign } from 'jose';
import type { Core } from '../context.ts';
import type { ClientRecord } from '../ports/clients.ts';
import type { JobHandler } from '../worker/worker.ts';
import { isEnabled } from './client.ts';
import { issuerOf } from './endpoints.ts';

/** The kind of the job that tells one client. */
export const signOutKind = 'sign-out';

/** A logout token is for the moment (OpenID Connect Back-Channel Logout 1.0, section 2.4). */
const logoutTokenSeconds = 120;

const logoutEvent = 'http://schemas.openid.net/event/backchannel-logout';

/** Sends a form to a URL of a client; says whether it was accepted. Rejects never. */
export type PostForm = (
  url: string,
  form: string,
) => Promise<{ readonly ok: boolean; readonly error: string | null; readonly httpStatus: number | null }>;

export type SignOuts = ReturnType<typeof createSignOuts>;

/** Tells the apps of a user that the user has signed out. */
export function createSignOuts({ storage, random, clock, wake }: Core) {
  return {
    /** Stores what has to be told: to every enabled client that the user lets in and that registered where to. */
    async tell(sub: string): Promise<void> {
      const consents = await storage.consents.list(sub);
      const clients = await Promise.all(consents.map(({ clientId }) => storage.clients.find(clientId)));
      const jobs = clients.flatMap((client) =>
        isEnabled(client) && client.backchannelLogoutUri
          ? [
              {
                id: `${signOutKind}:${random.bytes(16).toString('hex')}`,
                kind: signOutKind,
                payload: { sub, clientId: client.clientId },
                dueAt: clock.now(),
              },
            ]
          : [],
      );
      if (jobs.length === 0) return;
      await storage.queue.enqueue(jobs);
      wake('jobs');
    },
  };
}

/** OpenID Connect Back-Channel Logout 1.0, section 2.4; `jti` is the same in every attempt of one job. */
async function signLogoutToken(core: Core, client: ClientRecord, sub: string, jti: string): Promise<string> {
  const now = core.clock.now();
  const key = (await core.signingKeys.current()).signing(client.idTokenAlg, now);
  const issuedAt = Math.floor(now / 1000);
  const claims = {
    iss: issuerOf(core.options),
    ...{ sub, aud: client.clientId, iat: issuedAt, exp: issuedAt + logoutTokenSeconds, jti },
    events: { [logoutEvent]: {} },
  };
  return new CompactSign(Buffer.from(JSON.stringify(claims)))
    .setProtectedHeader({ alg: key.alg, kid: key.kid, typ: 'logout+jwt' })
    .sign(key.privateJwk);
}

/** Tells one client, as often as webhooks are tried and after the same waits. */
export function signOutHandler(core: Core, post: PostForm): JobHandler {
  const { storage, clock, options } = core;

  return async ({ sub, clientId }, { id, attempt }) => {
    const client = await storage.clients.find(String(clientId));
    if (!isEnabled(client) || !client.backchannelLogoutUri) return null;
    const token = await signLogoutToken(core, client, String(sub), id);
    const answer = await post(client.backchannelLogoutUri, `logout_token=${token}`);
    if (answer.ok) return null;
    const delay = options.webhooks.retryDelaysSeconds[attempt - 1];
    const { error, httpStatus } = answer;
    const fields = { client: client.clientId, attempt, error, httpStatus };
    if (delay === undefined) {
      options.logger.warn(fields, 'a client could not be told that a user signed out; it is not tried again');
      return null;
    }
    options.logger.info(fields, 'a client could not be told that a user signed out; it is tried again');
    return { dueAt: clock.now() + delay * 1000 };
  };
}
