import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  authorizePath,
  codeFrom,
  exchangeAt,
  type RemoteClient,
  RoamingBrowser,
} from '../../support/browser/remote-flow.ts';
import { freePort } from '../../support/free-port.ts';
import { close, listen } from '../../support/http.ts';
import { Child } from '../../support/processes/child.ts';
import { newKey, rightProof } from './tokens.ts';

/** URIs of the two resources (APIs) of the fuzzed application. */
export const [own, other] = ['https://api.example/a', 'https://api.example/b'];
const resources = { [own]: { name: 'A', scopes: [] }, [other]: { name: 'B', scopes: [] } };

/** Texts in a random request that are replaced by an unused code and a valid refresh token. */
export const [unusedCode, refreshToken] = ['an-unused-code', 'a-refresh-token'];

/** Settings of the process that runs the fuzzed application. */
export interface FuzzedHost {
  readonly file: string;
  readonly sealingKey: string;
  readonly resources: typeof resources;
  readonly port: number;
}

/** Response of the server of client metadata documents. */
export interface Served {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export type Stage = Awaited<ReturnType<typeof setStage>>;

/**
 * Starts the fuzzed application in a process of its own, with a SQLite file, a client with a secret, a client
 * with a key, and a server of client metadata documents.
 */
export async function setStage(ends: AsyncDisposableStack) {
  const folder = mkdtempSync(join(tmpdir(), 'ostiary-fuzz-'));
  ends.defer(() => rmSync(folder, { recursive: true, force: true }));
  const sealingKey = randomBytes(32).toString('base64url');
  const settings: FuzzedHost = {
    ...{ file: join(folder, 'ostiary.db'), sealingKey, resources },
    port: await freePort(),
  };
  const host = new Child(new URL('./host-process.ts', import.meta.url), settings);
  ends.defer(async () => void (await host.stop()));
  await host.ready;

  const served = new Map<string, Served>();
  const documents = createServer(({ url = '' }, response) => {
    const { status, headers, body } = served.get(url) ?? { status: 404, headers: {}, body: '' };
    served.delete(url);
    response.writeHead(status, headers).end(body);
  });
  const documentOrigin = await listen(documents);
  ends.defer(() => close(documents));

  const redirectUri = 'https://app.example/callback';
  const app = {
    name: 'App',
    redirectUris: [redirectUri],
    allowedScopes: ['openid', 'profile', 'offline_access'],
  };
  const [clientKey, dpopKey] = [newKey(), newKey()];
  const create = async (more: object): Promise<RemoteClient> => ({
    ...(await host.ask<{ id: string; secret: string }>('create', { ...app, ...more })),
    redirectUri,
  });
  const [secretClient, keyClient] = [
    await create({}),
    await create({ jwks: { keys: [{ ...clientKey.publicJwk, kid: 'key-1' }] } }),
  ];
  /**
   * Signs the user Ana in and returns a code for the resource {@link own}, or for the parameters in `more`.
   */
  const newCode = (more: Record<string, string> = { resource: own }): Promise<string> =>
    codeFrom([host.origin], new RoamingBrowser(host.origin, 'ana'), authorizePath(secretClient, more));
  // Remembers the consents, so that authorization requests get a code at once.
  for (const client of [secretClient, keyClient])
    for (const resource of [own, other])
      await codeFrom(
        [host.origin],
        new RoamingBrowser(host.origin, 'ana'),
        authorizePath(client, { resource, scope: 'openid profile' }),
      );

  async function newRefreshToken(): Promise<string> {
    const request = { scope: 'openid offline_access', resource: own };
    const { json } = await exchangeAt(host.origin, secretClient, await newCode(request));
    return String(json.refresh_token);
  }
  /** Returns an access token that is bound to the DPoP key. */
  async function newBoundToken(): Promise<string> {
    const url = `${host.origin}/v1/oauth/token`;
    const body = new URLSearchParams({
      ...{ grant_type: 'authorization_code', code: await newCode({}), redirect_uri: redirectUri },
      ...{ client_id: secretClient.id, client_secret: secretClient.secret },
    });
    const response = await fetch(url, { method: 'POST', body, headers: { dpop: rightProof(dpopKey, url) } });
    return String(Object(await response.json()).access_token);
  }
  const used = { [unusedCode]: await newCode(), [refreshToken]: await newRefreshToken() };

  return {
    ...{ host, secretClient, keyClient, clientKey, dpopKey, documentOrigin, newCode },
    boundToken: await newBoundToken(),
    /** Puts a code and a refresh token where a request has {@link unusedCode} and {@link refreshToken}. */
    withGrants: (body: string) =>
      Object.entries(used).reduce((text, [name, value]) => text.replace(name, value), body),
    /** Gets another code or refresh token, because a request has used the last one. */
    async renew(body: string) {
      if (body.includes(unusedCode)) used[unusedCode] = await newCode();
      if (body.includes(refreshToken)) used[refreshToken] = await newRefreshToken();
    },
    /** Serves a client metadata document once, at a path that no other request uses. */
    serve: (path: string, document: Served) => void served.set(path, document),
    /**
     * Returns the heap of the application after a garbage collection, in bytes, and the errors logged since
     * the last call.
     */
    report: () => host.ask<{ readonly heapBytes: number; readonly errors: readonly string[] }>('report'),
  };
}
