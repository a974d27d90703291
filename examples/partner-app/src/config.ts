/** How this shop is registered at the identity provider. */
export interface RegisteredClient {
  readonly clientId: string;
  /** `null` for a public client: it proves itself with PKCE alone. */
  readonly clientSecret: string | null;
  readonly redirectUri: string;
}

/** What the shop needs to know. */
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
    readonly public: RegisteredClient;
    /** The page that runs in the browser alone. */
    readonly spa: RegisteredClient;
  };
  /** For paying customers and verifying passports; `null` for a shop that only signs people in. */
  readonly partnerApi: PartnerApiKey | null;
}

/** What the partner API knows the shop by. Both stay on the server. */
export interface PartnerApiKey {
  readonly key: string;
  readonly signingSecret: string;
}

/** The addresses to register for a shop at `url`. */
export function redirectUris(url: string): {
  readonly confidential: string;
  readonly public: string;
  readonly spa: string;
} {
  return { confidential: `${url}/callback`, public: `${url}/callback/public`, spa: `${url}/spa` };
}
