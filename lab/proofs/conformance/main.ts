/** Provider for a run of the original conformance suite of the OpenID Foundation. See ../README.md. */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { createServer } from 'node:https';
import { join, resolve } from 'node:path';
import { getCACertificates, setDefaultCACertificates, type TLSSocket } from 'node:tls';
import { sqliteStorage } from '@ostiary/adapter-sqlite';
import { createOstiary } from '@ostiary/core';
import { exportJWK, generateKeyPair } from 'jose';
import { deniedModule, suiteConfig } from './config.ts';
import { conformanceHost } from './host.ts';

/** Folder for the certificate, the database and the configurations of the conformance suite. */
const folder = resolve(process.argv[2] ?? '.conformance');
/** URL of the provider that the conformance suite tests. */
const authUrl = 'https://localhost:9443';
/** URL of the conformance suite, and the port without TLS on which the suite listens. */
const suiteUrl = 'https://localhost:8443';
const suitePort = 8080;
/** Name of a test plan in the conformance suite; the suite's URLs contain this name. */
const alias = 'ostiary';

mkdirSync(folder, { recursive: true });
const [keyFile, certFile] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
execFileSync(
  'openssl',
  [
    ...['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-keyout', keyFile, '-out', certFile],
    ...['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'],
  ],
  { stdio: 'ignore' },
);
const tls = {
  key: readFileSync(keyFile),
  cert: readFileSync(certFile),
  // Ciphers of TLS 1.3, and those that BCP 195 recommends for TLS 1.2, which the suite checks.
  ciphers: [
    'TLS_AES_256_GCM_SHA384',
    'TLS_AES_128_GCM_SHA256',
    'ECDHE-RSA-AES256-GCM-SHA384',
    'ECDHE-RSA-AES128-GCM-SHA256',
  ].join(':'),
};
// Logout tokens are sent to the suite, which has the same certificate.
setDefaultCACertificates([...getCACertificates(), tls.cert.toString()]);

const host = conformanceHost();
const ostiary = await createOstiary({
  authUrl,
  storage: sqliteStorage({ file: join(folder, `provider-${Date.now()}.sqlite`) }),
  sealingKeys: [randomBytes(32)],
  users: host.users,
  login: host.login,
  scopes: { email: true, phone: true, address: true, standardProfile: true },
  refreshTokens: {},
  privateKeyJwt: true,
  pushedRequests: {},
  dpop: true,
  // The suite receives logout tokens on this machine.
  webhooks: { allowPrivateTargets: true },
});
ostiary.worker.start();

// The suite itself speaks HTTP only and expects a proxy in front.
createServer(tls, (incoming, response) => {
  const headers = {
    ...incoming.headers,
    ...{ 'x-forwarded-proto': 'https', 'x-forwarded-port': '8443' },
    // The suite checks the connections that a provider makes to it.
    'x-ssl-protocol': (incoming.socket as TLSSocket).getProtocol() ?? '',
    'x-ssl-cipher': (incoming.socket as TLSSocket).getCipher().name,
  };
  const passed = request(
    { port: suitePort, method: incoming.method, path: incoming.url, headers },
    (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    },
  );
  passed.on('error', () => response.writeHead(502).end());
  incoming.pipe(passed);
}).listen(8443, 'localhost');

createServer(tls, (incoming, response) => {
  ostiary.handler(incoming, response, () => host.page(incoming, response));
}).listen(9443, 'localhost');

const callback = `${suiteUrl}/test/a/${alias}`;
const provision = async (name: string, backchannelLogoutUri: string | null = null) => {
  const { client, clientSecret } = await ostiary.admin.clients.create({
    name,
    redirectUris: [`${callback}/callback`],
    postLogoutRedirectUris: [`${callback}/post_logout_redirect`],
    allowedScopes: ['openid', 'profile', 'email', 'phone', 'address', 'offline_access'],
    backchannelLogoutUri,
  });
  return { client_id: client.clientId, client_secret: clientSecret ?? '' };
};
const clients = {
  client: await provision('First client'),
  client2: await provision('Second client'),
  client_secret_post: await provision('Client with its secret in the form'),
};
const backChannel = {
  ...clients,
  client: await provision('Client with back-channel logout', `${callback}/backchannel_logout`),
};
/** Creates a client of the FAPI 2.0 Security Profile, with a key that the conformance suite signs with. */
async function provisionFapi(name: string) {
  const pair = await generateKeyPair('PS256', { extractable: true });
  const members = { kid: name, use: 'sig', alg: 'PS256' };
  const { client } = await ostiary.admin.clients.create({
    name,
    redirectUris: [`${callback}/callback`, `${callback}/callback?dummy1=lorem&dummy2=ipsum`],
    allowedScopes: ['openid', 'profile', 'email', 'offline_access'],
    jwks: { keys: [{ ...(await exportJWK(pair.publicKey)), ...members }] },
    idTokenAlg: 'ES256',
    refreshWithoutOfflineAccess: true,
    profile: 'fapi2',
  });
  const keys = [{ ...(await exportJWK(pair.privateKey)), ...members }];
  return { client_id: client.clientId, scope: 'openid email', jwks: { keys } };
}
const write = (name: string, config: object) =>
  writeFileSync(join(folder, name), JSON.stringify(config, null, 2));
write('config.json', suiteConfig({ alias, authUrl, ...clients }));
write('config-back-channel.json', suiteConfig({ alias, authUrl, ...backChannel }));
const { override, ...common } = suiteConfig({ alias, authUrl, ...clients });
write('config-fapi2.json', {
  ...common,
  override: {
    ...override,
    // Clients without the user's consent, so that there are requests to deny.
    [deniedModule]: {
      ...override[deniedModule],
      client: await provisionFapi('third'),
      client2: await provisionFapi('fourth'),
    },
  },
  client: await provisionFapi('first'),
  client2: await provisionFapi('second'),
  resource: { resourceUrl: `${authUrl}/v1/oauth/userinfo` },
});
console.log(`The provider listens at ${authUrl}, and the suite is passed on from ${suiteUrl}.`);
console.log(`Configurations for the suite are in ${folder}.`);
