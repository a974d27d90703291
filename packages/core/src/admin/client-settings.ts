import { z } from 'zod';
import { isPublicClient } from '../keys/client-credentials.ts';
import type {
  ClientProfile,
  ClientRecord,
  ClientSecretRecord,
  LoopbackPorts,
  SigningAlgorithm,
} from '../ports/clients.ts';
import { minImportedSecret } from '../secrets/tokens.ts';
import { fieldProblems } from '../text/field-problems.ts';
import { isReservedName, reservedWords } from '../text/reserved-names.ts';
import { spaceSeparated } from '../text/space-separated.ts';
import { type Shown, shown } from './checked.ts';
import { requiredName } from './names.ts';

/** An OAuth client as administrators see it. Times are ISO 8601. */
export interface Client extends Shown<Omit<ClientRecord, 'secrets' | 'version' | 'searchName'>> {
  /** True for a client with neither a secret nor keys, which must use PKCE. */
  readonly public: boolean;
  /** Secrets of the client that have not expired, without their values. */
  readonly secrets: readonly Shown<Omit<ClientSecretRecord, 'digest'>>[];
}

/** Settings of a client that an administrator chooses. */
export interface ClientSettings<Name extends string = string> {
  /** Name shown to users on the consent page: 1 to 100 characters, without any that hide or reorder text. */
  readonly name: string;
  /**
   * Allowed redirect URIs, 1 to 50, compared character by character. The documentation lists what is refused.
   */
  readonly redirectUris: readonly string[];
  /**
   * `any` ignores the port of redirect URIs with a loopback address, because an app on the user's device
   * takes any free port (RFC 8252, section 7.3). For public clients only.
   * @defaultValue `"exact"`
   */
  readonly loopbackPorts?: LoopbackPorts;
  /** Scopes that the client may request. */
  readonly allowedScopes: readonly Name[];
  /**
   * Scopes that Ostiary uses for authorization requests without `scope`, separated by spaces. All of them
   * must be among `allowedScopes`.
   * @defaultValue `null`: such requests are refused as `invalid_request`
   */
  readonly defaultScope?: string | null;
  /**
   * Scopes that a user may leave out on the consent page. All of them must be among `allowedScopes`; `openid` cannot
   * be one. Users approve all other scopes together.
   * @defaultValue none
   */
  readonly optionalScopes?: readonly Name[];
  /** Refuses authorization requests without PKCE. @defaultValue false; public clients need PKCE anyway */
  readonly requirePkce?: boolean;
  /** Refuses code exchanges without the client secret, even with PKCE. @defaultValue false */
  readonly requireSecret?: boolean;
  /**
   * Public keys (a JWK Set) with which Ostiary verifies the client's signed JWTs (`private_key_jwt`), instead
   * of a secret; see the option `privateKeyJwt`. 1 to 50 keys for ES256, PS256 or EdDSA. Setting keys removes
   * the client's secrets.
   * @defaultValue `null`: the client authenticates with its secret
   */
  readonly jwks?: { readonly keys: readonly object[] } | null;
  /**
   * URL of a JWK Set with the client's public keys, instead of `jwks`: https and a public address, as for
   * webhooks. Ostiary fetches it when it needs a key: if the last fetch was more than ten minutes ago, or
   * sooner for an unknown key id.
   * @defaultValue `null`
   */
  readonly jwksUri?: string | null;
  /**
   * Refuses authorization requests that were not pushed (RFC 9126); see the option `pushedRequests`.
   * @defaultValue false
   */
  readonly requirePushedRequests?: boolean;
  /**
   * Marks the client as trusted by you: consent is remembered even with loopback or private-use redirect
   * URIs, and private-use schemes need no dot.
   * @defaultValue false
   */
  readonly firstParty?: boolean;
  /**
   * Issues a refresh token with every code of the client, even if the request lacks the scope
   * `offline_access`. The consent page says that the app keeps its access, but lists no scope for it. Needs the
   * option `refreshTokens`.
   * @defaultValue false
   */
  readonly refreshWithoutOfflineAccess?: boolean;
  /**
   * Marks the client as an API that receives access tokens: it may introspect tokens with its secret or keys;
   * see the option `introspection`. If the client is not an app as well, it needs no redirect URIs and no
   * scopes.
   * @defaultValue false
   */
  readonly resourceServer?: boolean;
  /**
   * Refuses token requests without a DPoP proof (RFC 9449), so that every token of the client is bound to a
   * key. Needs the option `dpop`.
   * @defaultValue false
   */
  readonly requireDpop?: boolean;
  /**
   * Security profile of the client. `fapi2` is the FAPI 2.0 Security Profile: it turns on `requirePkce`,
   * `requirePushedRequests` and `requireDpop`, limits codes to 60 seconds, accepts only the issuer as the
   * audience of client assertions, and keeps a refresh token valid instead of replacing it at each use. The
   * client needs keys, ID tokens with ES256, and https redirect URIs.
   * @defaultValue `null`
   */
  readonly profile?: ClientProfile | null;
  /**
   * URL of the app's terms of service, linked from the consent page: https. @defaultValue `null`: there is no
   * link
   */
  readonly termsUrl?: string | null;
  readonly privacyUrl?: string | null;
  /**
   * URIs to which users may return after signing out; see `login.signOut`. The rules of `redirectUris` apply.
   * @defaultValue none
   */
  readonly postLogoutRedirectUris?: readonly string[];
  /**
   * URI that is notified when a user has signed out (OpenID Connect Back-Channel Logout 1.0): https and a
   * public address, as for webhooks.
   * @defaultValue `null`: the client is not notified
   */
  readonly backchannelLogoutUri?: string | null;
  /** Algorithm that signs the client's ID tokens and logout tokens. @defaultValue `"RS256"` */
  readonly idTokenAlg?: SigningAlgorithm;
  /**
   * Slug of the partner that owns the client. The partner may see through its API what users consent to share
   * with the client.
   * @defaultValue `null`: the client belongs to no partner
   */
  readonly partner?: string | null;
}

/** Settings of a client to create. */
export interface NewClient<Name extends string = string> extends ClientSettings<Name> {
  /** Creates a client without a secret, for an app that cannot keep one. @defaultValue false */
  readonly public?: boolean;
  /** Client id: 1 to 255 characters of `A-Z a-z 0-9 _ -`. @defaultValue a random id */
  readonly clientId?: string;
  /**
   * Secret that the client already has: 20 to 255 printable ASCII characters. @defaultValue a random secret
   */
  readonly clientSecret?: string;
  /**
   * Hash of the client's secret, if the secret itself is unknown; see the option `verifyImportedSecret`. 20
   * to 512 printable ASCII characters.
   */
  readonly clientSecretHash?: string;
}

/**
 * Schema for the URL of a web page. User information before the host is refused, because readers would take
 * it for the host.
 */
const webPage = z
  .url({ protocol: /^https$/, hostname: z.regexes.domain })
  .max(2048)
  .refine((url) => !/^[^:]*:[\\/]*[^\\/?#]*@/.test(url), 'must not contain user information');

/** Schema for a value of the parameter `scope` (RFC 6749, section 3.3). Removes repeated scopes. */
const scopeValue = z
  .string()
  .transform((text) => spaceSeparated(text).join(' '))
  .refine((text) => text !== '', fieldProblems.scope_empty);

/** Creates the schema of a client's settings. @param scopes - names of all available scopes */
export const clientSettings = (scopes: readonly string[]) =>
  z.strictObject({
    name: requiredName,
    redirectUris: z.array(z.string()),
    loopbackPorts: z.enum(['exact', 'any']).optional(),
    allowedScopes: z.array(z.enum(scopes)).transform((names): readonly string[] => [...new Set(names)]),
    defaultScope: scopeValue.nullable().optional(),
    optionalScopes: z
      .array(z.enum(scopes))
      .transform((names): readonly string[] => [...new Set(names)])
      .optional(),
    requirePkce: z.boolean(),
    requireSecret: z.boolean(),
    // The keys themselves are checked later, by `readClientJwks`.
    jwks: z
      .looseObject({ keys: z.array(z.looseObject({})) })
      .nullable()
      .optional(),
    jwksUri: z.string().nullable().optional(),
    requirePushedRequests: z.boolean().optional(),
    firstParty: z.boolean(),
    refreshWithoutOfflineAccess: z.boolean().optional(),
    resourceServer: z.boolean().optional(),
    requireDpop: z.boolean().optional(),
    profile: z.enum(['fapi2']).nullable().optional(),
    termsUrl: webPage.nullable().optional(),
    privacyUrl: webPage.nullable().optional(),
    postLogoutRedirectUris: z.array(z.string()).optional(),
    backchannelLogoutUri: z.string().nullable().optional(),
    idTokenAlg: z.enum(['RS256', 'ES256']),
    partner: z.string().nullable(),
  });

export function newClient(scopes: readonly string[]) {
  const settings = clientSettings(scopes);
  const { requirePkce, requireSecret, firstParty, idTokenAlg, partner } = settings.shape;
  return settings.extend({
    requirePkce: requirePkce.default(false),
    requireSecret: requireSecret.default(false),
    firstParty: firstParty.default(false),
    idTokenAlg: idTokenAlg.default('RS256'),
    partner: partner.default(null),
    public: z.boolean().default(false),
    clientId: z
      .string()
      .regex(/^[A-Za-z0-9_-]{1,255}$/, fieldProblems.client_id_form)
      .refine((id) => !isReservedName(id), reservedWords)
      .optional(),
    clientSecret: z
      .string()
      .regex(/^[\x21-\x7e]*$/, 'takes printable ASCII characters without spaces')
      .min(minImportedSecret)
      .max(255)
      .optional(),
    clientSecretHash: z
      .string()
      .regex(/^[\x21-\x7e]{20,512}$/, 'takes 20 to 512 printable ASCII characters without spaces')
      .optional(),
  });
}

/** Converts a stored client to the form that administrators see. Leaves out expired secrets. */
export function shownClient(
  client: ClientRecord & { readonly partnerDisabled?: boolean },
  now: number,
): Client {
  const { secrets, version: _, partnerDisabled: __, searchName: ___, ...record } = client;
  return {
    ...shown(record),
    public: isPublicClient(client),
    secrets: secrets
      .filter(({ expiresAt }) => expiresAt === null || expiresAt > now)
      .map(({ digest: _, ...secret }) => shown(secret)),
  };
}
