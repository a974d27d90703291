import { z } from 'zod';
import type { ClientRecord, ClientSecretRecord, LoopbackPorts, SigningAlgorithm } from '../ports/clients.ts';
import { minImportedSecret } from '../secrets/tokens.ts';
import { isReservedName, reservedWords } from '../text/reserved-names.ts';
import { type Shown, shown } from './checked.ts';
import { requiredName } from './names.ts';
import { checkRedirectUris } from './redirect-uris.ts';

/** An OAuth client as administrators see it. Times are ISO 8601. */
export interface Client extends Shown<Omit<ClientRecord, 'secrets' | 'version'>> {
  /** Without a secret: such a client always uses PKCE. */
  readonly public: boolean;
  /** Secrets that work, without the secrets. */
  readonly secrets: readonly Shown<Omit<ClientSecretRecord, 'digest'>>[];
}

/** Settings of a client that an administrator can set and change. */
export interface ClientSettings<Name extends string = string> {
  /** Shown to users on the consent page; 1 to 100 characters, none of which hides or turns others around. */
  readonly name: string;
  /** 1 to 50, compared character by character; see the documentation for what is refused. */
  readonly redirectUris: readonly string[];
  /**
   * `any`: the port of a redirect URI with a loopback address is not compared, since an app on the user's
   * device takes one that is free (RFC 8252, section 7.3). For public clients.
   * @defaultValue `"exact"`
   */
  readonly loopbackPorts?: LoopbackPorts;
  /** The scopes that the client may ask for. */
  readonly allowedScopes: readonly Name[];
  /** Refuse authorization requests without PKCE. @defaultValue false; public clients need PKCE anyway */
  readonly requirePkce?: boolean;
  /** Refuse exchanges without the secret, even with PKCE. @defaultValue false */
  readonly requireSecret?: boolean;
  /**
   * You vouch for this client: consent is remembered even with loopback or private-use redirect URIs.
   * @defaultValue false
   */
  readonly firstParty?: boolean;
  /**
   * An API that is given access tokens: it may ask whose they are, with its secret; see the option `introspection`. It need not be an
   * app, and may have no redirect URIs and no scopes.
   * @defaultValue false
   */
  readonly resourceServer?: boolean;
  /** Pages of the app, to which the consent page leads: https. @defaultValue `null`: there is no link */
  readonly termsUrl?: string | null;
  readonly privacyUrl?: string | null;
  /**
   * URIs to which users may return after they signed out; see `login.signOut`. The rules of `redirectUris`
   * apply.
   * @defaultValue none
   */
  readonly postLogoutRedirectUris?: readonly string[];
  /**
   * URI that is notified when a user has signed out (OpenID Connect Back-Channel Logout 1.0): https and a
   * public address, as for webhooks.
   * @defaultValue `null`: no notice
   */
  readonly backchannelLogoutUri?: string | null;
  /** Algorithm that signs its ID tokens. @defaultValue `"RS256"` */
  readonly idTokenAlg?: SigningAlgorithm;
  /**
   * Slug of the partner that owns the client: what users consent to share with the one, the other may see.
   * @defaultValue `null`: nobody's
   */
  readonly partner?: string | null;
}

/** A new client. */
export interface NewClient<Name extends string = string> extends ClientSettings<Name> {
  /** Make a client without a secret: an app that cannot keep one. @defaultValue false */
  readonly public?: boolean;
  /** An id of your choice, 1 to 255 of `A-Z a-z 0-9 _ -`. @defaultValue a random one */
  readonly clientId?: string;
  /** The secret that the client has already: 20 to 255 printable ASCII characters. @defaultValue a random one */
  readonly clientSecret?: string;
  /**
   * Hash of the secret, if the secret itself is unknown; see the option `verifyImportedSecret`. At most 512
   * characters.
   */
  readonly clientSecretHash?: string;
}

/** A page that users can open. A reader would take user information before the host for the host. */
const webPage = z
  .url({ protocol: /^https$/, hostname: z.regexes.domain })
  .max(2048)
  .refine((url) => !/^[^:]*:[\\/]*[^\\/?#]*@/.test(url), 'must not contain user information');

/** @param scopes - the names of those that there are */
export const clientSettings = (scopes: readonly string[]) =>
  z.strictObject({
    name: requiredName,
    redirectUris: z.array(z.string()),
    loopbackPorts: z.enum(['exact', 'any']).optional(),
    allowedScopes: z.array(z.enum(scopes)).transform((names): readonly string[] => [...new Set(names)]),
    requirePkce: z.boolean(),
    requireSecret: z.boolean(),
    firstParty: z.boolean(),
    resourceServer: z.boolean().optional(),
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
      .regex(/^[A-Za-z0-9_-]{1,255}$/, 'takes 1 to 255 of A-Z a-z 0-9 _ -')
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

export function shownClient(client: ClientRecord & { readonly partnerDisabled?: boolean }): Client {
  const { secrets, version: _, partnerDisabled: __, ...record } = client;
  return {
    ...shown(record),
    public: secrets.length === 0,
    secrets: secrets.map(({ digest: _, ...secret }) => shown(secret)),
  };
}

/** @throws TypeError when settings that are right by themselves do not fit together */
export function refuseContradiction(
  client: Pick<
    ClientRecord,
    | 'requireSecret'
    | 'resourceServer'
    | 'secrets'
    | 'redirectUris'
    | 'loopbackPorts'
    | 'firstParty'
    | 'allowedScopes'
    | 'postLogoutRedirectUris'
  >,
): void {
  const isPublic = client.secrets.length === 0;
  const isResourceServer = client.resourceServer === true;
  if (isPublic && client.requireSecret) throw new TypeError('requireSecret: a public client has no secret');
  if (isPublic && isResourceServer) throw new TypeError('resourceServer: a public client has no secret');
  if (!isPublic && client.loopbackPorts === 'any')
    throw new TypeError('loopbackPorts: any port is for public clients only');
  const rules = { isPublic, firstParty: client.firstParty };
  if (client.postLogoutRedirectUris !== undefined && client.postLogoutRedirectUris.length > 0)
    checkRedirectUris(client.postLogoutRedirectUris, rules, 'postLogoutRedirectUris');
  // An API without sign-in.
  if (isResourceServer && client.redirectUris.length === 0 && client.allowedScopes.length === 0) return;
  if (client.allowedScopes.length === 0) throw new TypeError('allowedScopes: needs at least one');
  checkRedirectUris(client.redirectUris, rules);
}
