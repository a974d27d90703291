/** A client of this shop as registered at the identity provider. */
interface RegisteredClient {
  readonly clientId: string;
  /** Secret of the client; `null` for a public client, which uses PKCE alone. */
  readonly clientSecret: string | null;
}

/** Settings of the shop. */
export interface PartnerConfig {
  /** Origin of this shop as browsers see it. */
  readonly url: string;
  readonly host: string;
  readonly port: number;
  readonly provider: {
    readonly name: string;
    /** Origin of the provider's consent page, which is also the issuer. */
    readonly authUrl: string;
    /** Origin of the provider's API. */
    readonly baseUrl: string;
  };
  readonly clients: {
    readonly confidential: RegisteredClient;
    /** Public client, also used by the page that signs in without the server. */
    readonly public: RegisteredClient;
  };
  /** Key for paying customers and verifying passports; `null` for a shop that only signs users in. */
  readonly partnerApi: PartnerApiKey | null;
  /** Settings for webhooks; `null` for a shop that polls instead. */
  readonly webhooks: WebhookSettings | null;
}

/**
 * Time limits for an attempt of a call to the provider, and for the call with its retries, in milliseconds.
 * They are short, because a person is waiting for a page.
 */
export const patience = { timeout: 10_000, totalTimeout: 15_000 } as const;

/** API key and signing secret of the shop at the partner API. Both stay on the server. */
export interface PartnerApiKey {
  readonly key: string;
  readonly signingSecret: string;
}

/** Settings for verifying webhooks. Live and test mode each have their own path and secret. */
export interface WebhookSettings {
  /** Prefix of the provider in header names: `X-<PREFIX>-…`. */
  readonly prefix: string;
  /** Webhook secrets of the shop by mode; `null` if the shop has no endpoint for the mode. */
  readonly secrets: Readonly<Record<WebhookMode, string | null>>;
}

/** Mode of webhooks: live (real money and users) or test (the sandbox). */
export type WebhookMode = (typeof webhookModes)[number];

export const webhookModes = ['live', 'test'] as const;

/** Returns the webhook URLs that a shop at `url` registers. */
export function webhookUrls(url: string): Readonly<Record<WebhookMode, string>> {
  return { live: `${url}/webhooks/live`, test: `${url}/webhooks/test` };
}

/** Returns the redirect URIs that a shop at `url` registers. */
export function redirectUris(url: string) {
  return { confidential: `${url}/callback`, public: `${url}/callback/public`, spa: `${url}/spa` };
}
