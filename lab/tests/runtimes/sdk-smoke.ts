/** Uses the SDK as a partner does, in every runtime, against a real server, and reports the results. */
import type * as Package from '@ostiary/client-sdk';
import type * as OAuth from '@ostiary/client-sdk/oauth';
import type * as Reconciliation from '@ostiary/client-sdk/reconciliation';

/** Settings of an SDK test in one runtime: URLs and paths in the test's environment. */
export interface Surroundings {
  readonly apiKey: string;
  readonly signingSecret: string;
  /** Origin of the server itself, without the faulty proxy. */
  readonly direct: string;
  /**
   * Origin of a proxy in front of the server. The proxy resets the first request after the server has
   * executed it, and never responds to the third request.
   */
  readonly faulty: string;
  /** Origin at which no server listens. */
  readonly closed: string;
  /** URL of a service that opens an authorization URL, approves the request, and returns the callback. */
  readonly browser: string;
  readonly client: { readonly clientId: string; readonly clientSecret: string; readonly redirectUri: string };
  /** Date on which transfers reached their last state. */
  readonly date: string;
  /** Path of the file to which an export is saved. */
  readonly file: string;
}

/** Results of the SDK test in one runtime, by step. */
export type Findings = { readonly [step: string]: unknown };

const payment = { amount: '125.00', currency: 'HTG', recipient: { kid: 'KID-TEST-APPROVED' } } as const;

async function failureOf(promise: PromiseLike<unknown>): Promise<unknown> {
  return await promise.then(
    () => null,
    (error: unknown) => error,
  );
}

export async function smoke(
  { OstiaryPartner, NotFoundError, OstiaryError, TimeoutError }: typeof Package,
  { OstiaryOAuth }: typeof OAuth,
  { exportReconciliation }: typeof Reconciliation,
  surroundings: Surroundings,
): Promise<Findings> {
  const { apiKey, signingSecret, direct, faulty, closed, client, date, file } = surroundings;
  const ostiary = new OstiaryPartner({ apiKey, signingSecret, baseUrl: direct });

  const { token } = await ostiary.sandbox.createPassport({ kid: 'KID-TEST-APPROVED' });
  const { user } = await ostiary.passports.verify({ token });

  const shaken = new OstiaryPartner({ apiKey, signingSecret, baseUrl: faulty, timeout: 10_000 });
  const { data: transfer, response } = await shaken.payments.create(payment).withResponse();
  const hung = await failureOf(shaken.payments.create(payment, { timeout: 300, maxRetries: 0 }));

  const listed: string[] = [];
  for await (const { id } of ostiary.payments.list({ limit: 1 })) listed.push(id);

  const day = exportReconciliation(ostiary, { date });
  let rows = 0;
  for await (const { amount } of day) rows += Number(amount === payment.amount);
  await exportReconciliation(ostiary, { date }).saveTo(file, { format: 'csv' });

  const refused = await failureOf(ostiary.payments.create({ ...payment, recipient: { kid: 'KID-NOBODY' } }));
  const offline = new OstiaryPartner({ apiKey, baseUrl: closed, maxRetries: 0 });
  const unreachable = await failureOf(offline.payments.create(payment));

  const oauth = new OstiaryOAuth({ authUrl: direct, ...client });
  const { url, ...remembered } = await oauth.authorizeUrl({ scope: ['openid', 'profile'] });
  const approved = await fetch(surroundings.browser, { method: 'POST', body: url });
  const { state, codeVerifier } = remembered;
  const { accessToken, scope } = await oauth.exchange({
    callbackUrl: await approved.text(),
    state,
    codeVerifier,
  });
  const { name } = await oauth.userinfo<'openid' | 'profile'>(accessToken);
  await oauth.revoke(accessToken);
  const revoked = await failureOf(oauth.userinfo(accessToken));

  const outcomeOf = (error: unknown) => (error instanceof OstiaryError ? error.outcome : String(error));
  return {
    mode: (await ostiary.whoami()).mode,
    verified: user.kid,
    attempts: response.attempts,
    replayed: response.headers.get('idempotent-replayed'),
    hung: [hung instanceof TimeoutError, outcomeOf(hung)],
    listed: [listed.length, listed.includes(transfer.id)],
    exported: [rows, day.summary?.rows],
    refused: [refused instanceof NotFoundError, outcomeOf(refused)],
    unreachable: outcomeOf(unreachable),
    signedIn: [name, scope],
    revoked: revoked instanceof OstiaryError && revoked.code,
    shown: JSON.stringify([hung, refused, unreachable, String(unreachable)]).includes(apiKey),
  };
}
