import fc from 'fast-check';
import { authorizePath } from '../../support/browser/remote-flow.ts';
import { type Kind, kinds } from './judge.ts';
import { other, own, refreshToken, type Served, type Stage, unusedCode } from './stage.ts';
import { assertions, proofs } from './tokens.ts';
import { changed, damaged, headerText, hostileJson, hostileText } from './values.ts';

/** A random request, and the function that judges its response. */
export interface Shot {
  readonly kind: Kind;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Body of a POST request; absent for a GET. */
  readonly body?: string | Uint8Array<ArrayBuffer>;
  /** Client metadata document that is served for the request. */
  readonly document?: { readonly path: string; readonly served: Served };
}

/** Generates the random requests that test one endpoint or parser. */
type Target = (stage: Stage) => fc.Arbitrary<Shot>;

const formType = 'application/x-www-form-urlencoded';

/**
 * Maximum length of the random part of an authorization query, in characters; the rest is cut off. Node
 * itself refuses requests whose line and headers exceed 16 KiB.
 */
const maxQuery = 8_000;

/** Writes parameters, some of which may be repeated, as a URL-encoded form. */
const formOf = (pairs: readonly (readonly [string, string])[]): string =>
  new URLSearchParams(pairs.map(([name, value]) => [name, value])).toString();

const authorizeWith = (stage: Stage, pairs: readonly (readonly [string, string])[]): Shot => {
  const query = formOf(pairs).slice(0, maxQuery);
  return {
    kind: kinds.authorize,
    path: `${authorizePath(stage.secretClient)}&${query}`,
    headers: { cookie: 'host=ana' },
  };
};

const tokenWith = (members: object, headers: Readonly<Record<string, string>> = {}): Shot => ({
  kind: kinds.json,
  path: '/v1/oauth/token',
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(members),
});

const exchangeOf = ({ secretClient }: Stage) => ({
  ...{ grant_type: 'authorization_code', code: unusedCode, redirect_uri: secretClient.redirectUri },
  ...{ client_id: secretClient.id, client_secret: secretClient.secret },
});

const resourceText = fc.oneof(
  { weight: 1, arbitrary: fc.constantFrom(own, other) },
  { weight: 2, arbitrary: damaged(fc.constantFrom(own, other)) },
  { weight: 3, arbitrary: hostileText },
);

/** Names of the authorization request parameters that the proof pushes. */
const pushedNames = [
  ...[
    'response_type',
    'client_id',
    'redirect_uri',
    'scope',
    'state',
    'nonce',
    'prompt',
    'max_age',
    'resource',
  ],
  ...[
    'code_challenge',
    'code_challenge_method',
    'dpop_jkt',
    'claims',
    'acr_values',
    'request',
    'request_uri',
  ],
  ...[
    'ui_locales',
    'login_hint',
    'id_token_hint',
    'response_mode',
    'client_secret',
    'client_assertion',
    '__proto__',
  ],
];

const pushes: Target = ({ secretClient: { id, secret, redirectUri } }) => {
  const right = {
    ...{ response_type: 'code', client_id: id, client_secret: secret, redirect_uri: redirectUri },
    ...{ scope: 'openid', state: 's' },
  };
  const shot = (type: string, body: string | Uint8Array<ArrayBuffer>): Shot => ({
    ...{ kind: kinds.json, path: '/v1/oauth/par', headers: { 'content-type': headerText(type) }, body },
  });
  const pairs = fc
    .array(fc.tuple(fc.constantFrom(...pushedNames), hostileText), { maxLength: 5 })
    .map((more) => [...Object.entries(right), ...more]);
  return fc.oneof(
    pairs.map((given) => shot(formType, formOf(given))),
    damaged(pairs.map(formOf)).map((body) => shot(formType, body)),
    changed(right).map((members) => shot('application/json', JSON.stringify(members))),
    damaged(changed(right).map((members) => JSON.stringify(members))).map((body) =>
      shot('application/json', body),
    ),
    fc
      .tuple(
        fc.constantFrom(formType, 'application/json', 'text/plain', 'multipart/form-data', ''),
        hostileText,
        fc.uint8Array({ maxLength: 200 }),
      )
      .map(([type, more, body]) => shot(`${type}${more}`.slice(0, 100), Uint8Array.from(body))),
  );
};

const authorizedResources: Target = (stage) =>
  fc.array(resourceText, { minLength: 1, maxLength: 3 }).map((values) =>
    authorizeWith(
      stage,
      values.map((value) => ['resource', value] as const),
    ),
  );

const exchangedResources: Target = (stage) =>
  fc
    .oneof(resourceText, fc.array(resourceText, { maxLength: 3 }), hostileJson)
    .map((resource) => tokenWith({ ...exchangeOf(stage), resource }));

const refreshedResources: Target = ({ secretClient: { id, secret } }) =>
  fc
    .oneof(resourceText, fc.array(resourceText, { minLength: 1, maxLength: 3 }), hostileJson)
    // A request with the right resource uses up the refresh token.
    .filter((resource) => JSON.stringify(resource)?.includes(own) !== true)
    .map((resource) =>
      tokenWith({
        ...{ grant_type: 'refresh_token', refresh_token: refreshToken, resource },
        ...{ client_id: id, client_secret: secret },
      }),
    );

const dpopProofs: Target = (stage) => {
  const tokenUrl = `${stage.host.origin}/v1/oauth/token`;
  const refused = { ...exchangeOf(stage), code: 'unknown' };
  return fc.oneof(
    proofs(stage.dpopKey, 'POST', tokenUrl, null).map((proof) =>
      tokenWith(refused, { dpop: headerText(proof) }),
    ),
    proofs(stage.dpopKey, 'POST', `${stage.host.origin}/v1/oauth/par`, null).map((proof) => ({
      ...{ kind: kinds.json, path: '/v1/oauth/par' },
      headers: { 'content-type': formType, dpop: headerText(proof) },
      body: authorizePath(stage.secretClient, { client_secret: stage.secretClient.secret }).replace(
        /^[^?]*\?/,
        '',
      ),
    })),
    fc
      .tuple(
        proofs(stage.dpopKey, 'GET', `${stage.host.origin}/v1/oauth/userinfo`, stage.boundToken),
        fc.oneof(
          { weight: 4, arbitrary: fc.constant(`DPoP ${stage.boundToken}`) },
          damaged(fc.constantFrom(`DPoP ${stage.boundToken}`, `Bearer ${stage.boundToken}`)),
        ),
      )
      .map(([proof, authorization]) => ({
        ...{ kind: kinds.json, path: '/v1/oauth/userinfo' },
        headers: { dpop: headerText(proof), authorization: headerText(authorization) },
      })),
  );
};

const clientAssertions: Target = ({ host, keyClient, clientKey }) => {
  const type = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
  const request = { grant_type: 'authorization_code', code: 'unknown', redirect_uri: keyClient.redirectUri };
  return fc
    .tuple(
      assertions(clientKey, keyClient.id, host.origin),
      fc.oneof({ weight: 6, arbitrary: fc.constant(type) }, hostileText),
      fc.constantFrom(keyClient.id, undefined, 'nobody', '__proto__'),
      fc.constantFrom('/v1/oauth/token', '/v1/oauth/introspect', '/v1/oauth/revoke', '/v1/oauth/par'),
    )
    .map(([assertion, assertionType, clientId, path]) => {
      const members = {
        client_assertion: assertion,
        client_assertion_type: assertionType,
        client_id: clientId,
      };
      return { ...tokenWith({ ...request, token: 'x', ...members }), path };
    });
};

const claimMember = fc.oneof(
  fc.constant(null),
  fc.record(
    { essential: hostileJson, value: hostileJson, values: fc.oneof(fc.array(hostileJson), hostileJson) },
    { requiredKeys: [] },
  ),
  hostileJson,
);
const claimNames = fc.oneof(
  fc.constantFrom('acr', 'sub', 'name', 'email', 'auth_time', 'handle'),
  hostileText,
);
const claimsOf = fc.dictionary(claimNames, claimMember, { maxKeys: 5 });

const claims: Target = (stage) =>
  damaged(
    fc.oneof(
      {
        weight: 4,
        arbitrary: changed({ id_token: {}, userinfo: {} }).map((members) => JSON.stringify(members)),
      },
      {
        weight: 4,
        arbitrary: fc
          .record({ id_token: claimsOf, userinfo: claimsOf }, { requiredKeys: [] })
          .map((members) => JSON.stringify(members)),
      },
      { weight: 1, arbitrary: hostileText },
    ),
  ).map((text) => authorizeWith(stage, [['claims', text]]));

const contextClasses: Target = (stage) =>
  fc
    .tuple(
      fc.array(fc.oneof(fc.constantFrom('urn:example:gold', 'urn:example:other'), hostileText), {
        maxLength: 20,
      }),
      fc.constantFrom(' ', '  ', ',', '\t', '+'),
      fc.array(hostileText, { maxLength: 1 }),
    )
    .map(([values, separator, twice]) =>
      authorizeWith(
        stage,
        [values.join(separator), ...twice].map((value) => ['acr_values', value] as const),
      ),
    );

let documents = 0;

const metadataDocuments: Target = ({ documentOrigin }) => {
  const right = {
    ...{ client_name: 'Assistant', redirect_uris: ['http://127.0.0.1/callback'] },
    ...{ grant_types: ['authorization_code'], response_types: ['code'], token_endpoint_auth_method: 'none' },
    ...{ post_logout_redirect_uris: ['https://app.example/'], logo_uri: 'https://app.example/logo' },
  };
  const headers = fc.record(
    {
      'content-type': fc.oneof(
        { weight: 5, arbitrary: fc.constant('application/json') },
        hostileText.map(headerText),
      ),
      'cache-control': fc.oneof(
        fc.constantFrom('max-age=600', 'no-store', 'max-age=9e99'),
        hostileText.map(headerText),
      ),
      'content-encoding': fc.oneof(
        { weight: 9, arbitrary: fc.constant('identity') },
        fc.constantFrom('gzip', 'br'),
      ),
      expires: hostileText.map(headerText),
      location: fc.constant('http://127.0.0.1/'),
    },
    { requiredKeys: ['content-type'] },
  );
  return fc
    .tuple(
      changed(right),
      fc.oneof({ weight: 6, arbitrary: fc.constant('') }, hostileText),
      headers,
      fc.oneof(
        { weight: 9, arbitrary: fc.constant(200) },
        fc.constantFrom(204, 301, 304, 401, 404, 500, 599),
      ),
      damaged(fc.constant('')),
      fc.oneof(
        { weight: 9, arbitrary: fc.constant(documentOrigin) },
        fc.constantFrom('https://app.example', '', 'http://'),
      ),
    )
    .map(([members, clientId, given, status, more, origin]) => {
      documents += 1;
      const path = `/${documents}`;
      const document = { client_id: `${documentOrigin}${path}${clientId}`, ...members };
      const body = `${JSON.stringify(document)}${more}`;
      const redirectUri = 'http://127.0.0.1:40000/callback';
      const client = { id: `${origin}${path}${clientId}`.slice(0, 2_000), secret: '', redirectUri };
      const query = { code_challenge: 'x'.repeat(43), code_challenge_method: 'S256' };
      const address = `10.${documents >> 16}.${(documents >> 8) & 255}.${documents & 255}`;
      return {
        kind: kinds.authorize,
        path: authorizePath(client, query),
        headers: { cookie: 'host=ana', 'x-forwarded-for': address },
        document: { path, served: { status, headers: given, body } },
      };
    });
};

/** All endpoints and parsers that the fuzz proof tests, by name. */
export const targets: { readonly [name: string]: Target } = {
  'pushed authorization requests': pushes,
  'resource at authorize': authorizedResources,
  'resource at a code exchange': exchangedResources,
  'resource at a refresh': refreshedResources,
  'DPoP proofs': dpopProofs,
  'client assertions': clientAssertions,
  claims,
  acr_values: contextClasses,
  'client ID metadata documents': metadataDocuments,
};
