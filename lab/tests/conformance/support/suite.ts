import { randomBytes } from 'node:crypto';
import type { JSONWebKeySet } from 'jose';
import { ana } from '../../../../packages/core/test/support/directory.ts';
import { ask } from '../../../support/browser/ask.ts';
import { UserAgent } from '../../../support/browser/user-agent.ts';
import { type Deployment, deploy } from './server.ts';

/** A client as the operator types it into the suite. */
export interface StaticClient {
  readonly id: string;
  readonly secret: string;
}

/** What every module is given: the deployment, seen from outside, and the static clients. */
export interface Suite {
  readonly deployment: Deployment;
  readonly discoveryUrl: string;
  readonly metadata: Record<string, unknown>;
  readonly jwks: JSONWebKeySet;
  readonly client: StaticClient;
  readonly secondClient: StaticClient;
  readonly redirectUri: string;
  /** A browser without cookies. */
  newBrowser(): UserAgent;
  /** The parameters of a plain authorization request, with `state` and `nonce` of its own. */
  request(changes?: Record<string, string>, client?: StaticClient): Record<string, string>;
  /** The same as an address. */
  requestUrl(parameters: Record<string, string>): string;
  endpoint(name: string): string;
}

/** The address of the suite's own callback. Nothing listens there: browsers of these tests stop in front of it. */
const redirectUri = 'https://suite.example/test/a/ostiary/callback';

/** Any text that was not there before. */
export const randomText = (bytes = 12): string => randomBytes(bytes).toString('base64url');

async function provision({ ostiary }: Deployment): Promise<StaticClient> {
  const { client, clientSecret } = await ostiary.admin.clients.create({
    name: 'The suite',
    redirectUris: [redirectUri],
    allowedScopes: ['openid', 'profile', 'kyc'],
  });
  return { id: client.clientId, secret: clientSecret ?? '' };
}

/** Deploys, provisions two static clients, and reads what the provider says of itself. */
export async function startSuite(): Promise<Suite> {
  const deployment = await deploy();
  const discoveryUrl = `${deployment.origin}/.well-known/openid-configuration`;
  const metadata = (await ask(discoveryUrl)).json();
  const jwks = (await ask(String(metadata.jwks_uri))).json() as unknown as JSONWebKeySet;
  const [client, secondClient] = [await provision(deployment), await provision(deployment)];
  const endpoint = (name: string) => String(metadata[`${name}_endpoint`]);
  return {
    deployment,
    discoveryUrl,
    metadata,
    jwks,
    client,
    secondClient,
    redirectUri,
    endpoint,
    newBrowser: () => new UserAgent(deployment.origin, redirectUri, ana.sub),
    request: (changes = {}, { id } = client) => ({
      client_id: id,
      redirect_uri: redirectUri,
      scope: 'openid',
      state: randomText(),
      nonce: randomText(),
      response_type: 'code',
      ...changes,
    }),
    requestUrl: (parameters) => `${endpoint('authorization')}?${new URLSearchParams(parameters)}`,
  };
}
