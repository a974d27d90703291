import { createHash, randomBytes } from 'node:crypto';
import type { IdentityChecks } from '@ostiary/reference-server';
import type { DemoClient, DemoFile, DemoUser } from '../demo-file.ts';
import type { Api } from './api.ts';
import type { Browser, Page } from './browser.ts';
import { type Report, StepFailed } from './report.ts';

/** The demo that is walked through. */
export interface Surroundings {
  readonly file: DemoFile;
  /** Origin of the shop. */
  readonly shopUrl: string;
  /** What the server's own staff does; see `ostiary users kyc`. */
  readonly changeKyc: IdentityChecks['change'];
}

/** What every step works with. */
export interface Walk extends Surroundings {
  readonly report: Report;
  readonly api: Api;
  readonly browser: Browser;
  readonly user: DemoUser;
  /** From discovery. */
  readonly endpoints: Readonly<Record<string, string>>;
}

/** One authorization request of an app. */
export interface Attempt {
  readonly client: DemoClient;
  readonly scope: string;
  readonly redirectUri: string;
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

export const random = (): string => randomBytes(32).toString('base64url');

/** @throws {@link StepFailed} when there is nothing */
export function found<Value>(value: Value | undefined, what: string): Value {
  if (value === undefined) throw new StepFailed(`there is no ${what}`);
  return value;
}

/** @throws {@link StepFailed} unless it is text */
export function textOf(value: unknown, what: string): string {
  if (typeof value !== 'string') throw new StepFailed(`${what} is missing`);
  return value;
}

/** Sends the browser to the authorization endpoint and on, up to a page or the client's redirect URI. */
export async function authorize(
  walk: Pick<Walk, 'browser' | 'endpoints'>,
  client: DemoClient,
  scope: string,
): Promise<{ attempt: Attempt; page: Page }> {
  const attempt: Attempt = {
    client,
    scope,
    redirectUri: found(client.redirectUris[0], 'redirect URI'),
    state: random(),
    nonce: random(),
    verifier: random(),
  };
  const url = new URL(found(walk.endpoints.authorization_endpoint, 'authorization endpoint'));
  url.search = new URLSearchParams({
    response_type: 'code',
    client_id: client.clientId,
    redirect_uri: attempt.redirectUri,
    scope,
    state: attempt.state,
    nonce: attempt.nonce,
    code_challenge: createHash('sha256').update(attempt.verifier).digest('base64url'),
    code_challenge_method: 'S256',
  }).toString();
  const first = await walk.browser.open(url.href);
  return {
    attempt,
    page: await walk.browser.follow(first, (location) => location.startsWith(attempt.redirectUri)),
  };
}

/** Presses a button of the consent page and takes what comes back to the redirect URI. */
export async function decide(
  walk: Pick<Walk, 'browser' | 'report' | 'file'>,
  attempt: Attempt,
  page: Page,
  decision: 'approve' | 'deny',
): Promise<URLSearchParams> {
  const form = found(
    page.forms.find(({ buttons }) => buttons.some(({ value }) => value === decision)),
    'form with this button',
  );
  const answer = await walk.browser.submit(page, form, { decision });
  const end = await walk.browser.follow(answer, (location) => location.startsWith(attempt.redirectUri));
  walk.report.check(end.location !== null, 'the browser is sent back to the redirect URI');
  const query = new URL(end.location ?? '').searchParams;
  walk.report.check(query.get('state') === attempt.state, 'state came back unchanged');
  walk.report.check(query.get('iss') === walk.file.authUrl, 'iss names the provider');
  return query;
}

/** The body of a code exchange, as the specification has it. */
export function exchangeBody(
  { client, redirectUri, verifier }: Attempt,
  code: string,
): Record<string, string> {
  return {
    grant_type: 'authorization_code',
    code,
    redirect_uri: redirectUri,
    client_id: client.clientId,
    code_verifier: verifier,
    ...(client.clientSecret !== null && { client_secret: client.clientSecret }),
  };
}
