/** Registration of this shop at the identity provider. */
interface RegisteredClient {
  readonly clientId: string;
  /** `null` for a public client: it proves itself with PKCE alone. */
  readonly clientSecret: string | null;
}

/** Settings of the shop. */
export interface PartnerConfig {
  /** Origin of this shop, as browsers see it. */
  readonly url: string;
  readonly host: string;
  readonly port: number;
  readonly provider: {
    readonly name: string;
    /** Origin of the consent screen, and the issuer. */
    readonly authUrl: string;
    /** Origin of the API. */
    readonly baseUrl: string;
  };
  readonly clients: {
    readonly confidential: RegisteredClient;
    /** Also of the page that runs in the browser alone. */
    readonly public: RegisteredClient;
  };
  /** For paying customers and verifying passports; `null` for a shop that only signs people in. */
  readonly partnerApi: PartnerApiKey | null;
  /** Settings for webhooks; `null` for a shop that polls instead. */
  readonly webhooks: WebhookSettings | null;
}

/** Time limit of a call, in milliseconds, because a person is waiting for a page. */
export const patience = { timeout: 10_000, totalTimeout: 15_000 } as const;

/** Credentials of the shop at the partner API. Both stay on the server. */
export interface PartnerApiKey {
  readonly key: string;
  readonly signingSecret: string;
}

/** Settings for verifying webhooks. Each mode has its own path and secret. */
export interface WebhookSettings {
  /** The wire prefix of the provider: headers are `X-<PREFIX>-…`. */
  readonly prefix: string;
  /** The secret of a mode, or `null` when the shop has registered no endpoint for it. */
  readonly secrets: Readonly<Record<WebhookMode, string | null>>;
}

/** Real money and users, or the sandbox. */
export type WebhookMode = (typeof webhookModes)[number];

export const webhookModes = ['live', 'test'] as const;

/** The addresses to register for webhooks of a shop at `url`. */
export function webhookUrls(url: string): Readonly<Record<WebhookMode, string>> {
  return { live: `${url}/webhooks/live`, test: `${url}/webhooks/test` };
}

/** The addresses to register for a shop at `url`. */
export function redirectUris(url: string) {
  return { confidential: `${url}/callback`, public: `${url}/callback/public`, spa: `${url}/spa` };
}
