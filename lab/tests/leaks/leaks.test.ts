import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sqliteStorage } from '@ostiary/adapter-sqlite';
import { createOstiary } from '@ostiary/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSealer } from '../../../packages/core/src/keys/sealing.ts';
import { systemRandom } from '../../../packages/core/src/secrets/random.ts';
import { pkce } from '../../../packages/core/test/support/provider.ts';
import {
  authorizePath,
  codeFrom,
  csrfOf,
  exchangeAt,
  type RemoteClient,
  RoamingBrowser,
  userinfoStatusAt,
} from '../../support/browser/remote-flow.ts';
import type { Child } from '../../support/processes/child.ts';
import { authUrl, options } from '../../support/processes/cluster-options.ts';
import { startHost } from '../../support/processes/host.ts';
import { spellingsOf } from './spellings.ts';

const redirectUri = 'https://app.example/callback';

/** Secrets that must not be found in files or output, by name. */
const secrets = new Map<string, string>();
/** Texts that must be found, as a check that the search for secrets itself works. */
const known = new Map<string, Buffer>();

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Returns the secrets, with their spellings, that occur in the given bytes. */
function findings(bytes: Buffer): string[] {
  const found: string[] = [];
  for (const [name, secret] of secrets) {
    for (const [spelling, needle] of spellingsOf(secret)) {
      if (bytes.includes(needle)) found.push(`${name} as ${spelling}`);
    }
  }
  return found;
}

/** Records the private members of every signing key in a database as secrets to search for. */
async function keepKeyMaterial(file: string, sealingKey: string): Promise<void> {
  const storage = sqliteStorage({ file });
  await storage.open();
  const sealer = createSealer([Buffer.from(sealingKey, 'base64url')], systemRandom);
  for (const { kid, alg, sealedPrivateJwk } of await storage.signingKeys.list()) {
    if (sealedPrivateJwk === null) continue;
    const jwk = JSON.parse(sealer.open(sealedPrivateJwk, `signing_keys/${kid}/private_jwk`));
    for (const member of ['d', 'p', 'q', 'dp', 'dq', 'qi'])
      if (member in jwk) secrets.set(`${alg} private key member ${member}`, String(jwk[member]));
  }
  await storage.close();
}

describe('after whole flows, attacks and failures, with every debug line turned on', () => {
  let directory: string;
  let file: string;
  let provider: Child;
  let client: RemoteClient;
  /** Files of the database as they were while the process ran. */
  let whileRunning: Map<string, Buffer>;

  const published = new Map<string, string>();

  const filesOf = (): Map<string, Buffer> =>
    new Map(readdirSync(directory).map((name) => [name, readFileSync(join(directory, name))]));

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'ostiary-leaks-'));
    file = join(directory, 'ostiary.db');
    const sealingKey = randomBytes(32).toString('base64url');
    secrets.set('sealing key', sealingKey);
    client = await provision(sealingKey);
    provider = await startHost({ file, sealingKey }, { DEBUG: '*', NODE_DEBUG: 'koa:application' });
    await wholeFlow();
    await attacks();
    await openEnds();
    for (const path of ['/.well-known/jwks.json', '/.well-known/openid-configuration']) {
      published.set(path, await (await fetch(provider.origin + path)).text());
    }
    await keepKeyMaterial(file, sealingKey);
    whileRunning = filesOf();
    expect(await provider.stop()).toBe(0);
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));

  async function provision(sealingKey: string): Promise<RemoteClient> {
    const ostiary = await createOstiary(options(sqliteStorage({ file }), { sealingKey }));
    const settings = { name: 'App', redirectUris: [redirectUri], allowedScopes: ['openid' as const] };
    const { client: created, clientSecret } = await ostiary.admin.clients.create(settings);
    const rotated = await ostiary.admin.clients.rotateSecret(created.clientId, { overlapSeconds: 600 });
    await ostiary.close();
    secrets.set('client secret', clientSecret ?? '');
    secrets.set('second client secret', rotated.clientSecret);
    known.set('client id', Buffer.from(created.clientId));
    return { id: created.clientId, secret: clientSecret ?? '', redirectUri };
  }

  function keepCookies(browser: RoamingBrowser, name: string): void {
    for (const [index, pair] of browser.received.entries()) {
      const value = pair.slice(pair.indexOf('=') + 1);
      if (value !== '') secrets.set(`${name}: cookie ${index} (${pair.split('=')[0]})`, value);
    }
  }

  async function wholeFlow(): Promise<void> {
    const browser = new RoamingBrowser(authUrl, 'ana');
    const { verifier, bound } = pkce();
    const code = await codeFrom([provider.origin], browser, authorizePath(client, { ...bound, nonce: 'n' }));
    const { json } = await exchangeAt(provider.origin, client, code, { code_verifier: verifier });
    const token = String(json.access_token);
    expect(await userinfoStatusAt(provider.origin, token)).toBe(200);
    secrets
      .set('code', code)
      .set('verifier', verifier)
      .set('access token', token)
      .set('ID token', String(json.id_token));
    known.set('digest of the code', sha256(code)).set('digest of the token', sha256(token));
    const apps = await browser.visit(provider.origin, '/account/apps');
    secrets.set('removal token', csrfOf(apps.text));
    await browser.visit(provider.origin, `/account/apps/${client.id}/revoke`, { csrf: csrfOf(apps.text) });
    keepCookies(browser, 'whole flow');
  }

  /** Sends requests that fail, which a log might therefore contain. */
  async function attacks(): Promise<void> {
    const browser = new RoamingBrowser(authUrl, 'ben');
    const { verifier, bound } = pkce();
    const code = await codeFrom([provider.origin], browser, authorizePath(client, bound));
    const wrong = pkce().verifier;
    const wrongSecret = `wrong-${randomBytes(32).toString('base64url')}`;
    secrets.set('attacked code', code).set('attacked verifier', verifier);
    secrets.set('wrong verifier', wrong).set('wrong secret', wrongSecret);
    const exchange = (changes: Record<string, string> = {}) =>
      exchangeAt(provider.origin, client, code, { code_verifier: verifier, ...changes });
    await exchange({ code_verifier: wrong });
    await exchange({ client_secret: wrongSecret });
    await exchange({ redirect_uri: 'https://evil.example/' });
    const { json } = await exchange();
    secrets.set('token of a replayed code', String(json.access_token));
    await exchange();
    await userinfoStatusAt(provider.origin, String(json.access_token));
    for (const path of ['/v1/oauth/revoke', '/v1/oauth/token', '/nowhere', '/oauth/authorize']) {
      const text = `{"token":"${json.access_token}","client_secret":"${client.secret}","code":"${code}"`;
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${json.access_token}` };
      await (await fetch(provider.origin + path, { method: 'POST', headers, body: text })).arrayBuffer();
    }
    keepCookies(browser, 'attacks');
  }

  /**
   * Leaves two sign-ins unfinished: one whose consent page is shown, and one that the user has approved.
   * Before, another browser tries to open and approve each of them.
   */
  async function openEnds(): Promise<void> {
    const browser = new RoamingBrowser(authUrl, 'carl');
    for (const answered of [false, true]) {
      const { location } = await browser.visit(provider.origin, authorizePath(client, { prompt: 'consent' }));
      const { text } = await browser.visit(provider.origin, location);
      secrets.set(`CSRF token, ${answered ? 'answered' : 'open'}`, csrfOf(text));
      secrets.set(`interaction id, ${answered ? 'answered' : 'open'}`, location.split('/').at(-1) ?? '');
      known.set(`digest of an interaction id, ${answered}`, sha256(location.split('/').at(-1) ?? ''));
      const stranger = new RoamingBrowser(authUrl, 'dora');
      await stranger.visit(provider.origin, location);
      await stranger.visit(provider.origin, location, { csrf: csrfOf(text), decision: 'approve' });
      await stranger.visit(provider.origin, `${location}/resume`);
      if (answered)
        await browser.visit(provider.origin, location, { csrf: csrfOf(text), decision: 'approve' });
    }
    keepCookies(browser, 'open ends');
  }

  it('the flows have made every kind of secret', () => {
    expect(secrets.size).toBeGreaterThan(30);
    for (const [name, secret] of secrets) expect(secret.length, name).toBeGreaterThan(20);
    expect([...secrets.keys()].join()).toMatch(
      /svc_interaction\.sig.*RS256 private key member d.*ES256 private key member d/s,
    );
  });

  it('the search finds what is there', () => {
    const database = Buffer.concat([...whileRunning.values()]);
    for (const [name, bytes] of known) expect(database.includes(bytes), name).toBe(true);
    expect(provider.printed()).toMatch(/koa-router/);
    expect(provider.printed()).toMatch(/KOA:APPLICATION/);
    const secret = secrets.get('code') ?? '';
    for (const text of [
      `x${secret}x`,
      encodeURIComponent(`={${secret}`),
      Buffer.from(`ab${secret}c`).toString('base64'),
      Buffer.from(`abc${secret}`).toString('hex'),
    ]) {
      expect(findings(Buffer.from(text))).not.toEqual([]);
    }
    expect(findings(Buffer.from(secret, 'base64url'))).not.toEqual([]);
  });

  it('the database, its log and its index hold none of them, running or stopped', () => {
    expect([...whileRunning.keys()].sort()).toEqual(['ostiary.db', 'ostiary.db-shm', 'ostiary.db-wal']);
    for (const files of [whileRunning, filesOf()]) {
      for (const [name, bytes] of files) expect(findings(bytes), name).toEqual([]);
    }
  });

  it('the published documents hold none of them', () => {
    for (const [path, text] of published) {
      expect(findings(Buffer.from(text)), path).toEqual([]);
      expect(text, path).not.toMatch(/"(d|p|q|dp|dq|qi|k|oth)":/);
    }
    expect(published.get('/.well-known/jwks.json')).toContain('"kty":"RSA"');
  });

  it('the process printed none of them', () => {
    expect(findings(Buffer.from(provider.printed(), 'latin1'))).toEqual([]);
  });
});
