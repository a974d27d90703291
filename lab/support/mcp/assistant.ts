import type { OAuthDiscoveryState } from '@modelcontextprotocol/sdk/client/auth.js';
import type { OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js';
import { SignInBrowser } from './sign-in-browser.ts';

/** Client id or metadata document with which an AI assistant identifies itself. */
export interface Identity {
  /** Id of an OAuth client that an administrator created for the assistant. */
  readonly clientId?: string;
  /** URL of the assistant's client metadata document. */
  readonly clientMetadataUrl?: string;
}

/** Tokens as MCP clients store them, with the authorization server that issued the tokens. */
type StoredTokens = OAuthTokens & { readonly issuer?: string };
/** Metadata of an MCP server and its authorization server, as an MCP client caches them. */
type Discovery = OAuthDiscoveryState;
type StoredClient = { readonly client_id: string; readonly issuer?: string };

/**
 * An AI assistant that uses the MCP client of either SDK version. The assistant stores the client's tokens,
 * and opens authorization requests in a browser, whose user signs in and approves.
 */
export class Assistant {
  readonly redirectUrl: string;
  readonly clientMetadata;
  readonly clientMetadataUrl?: string;
  readonly browser: SignInBrowser;
  /** Parameters of the assistant's last OAuth callback. */
  callback = new URLSearchParams();
  #client: StoredClient | undefined;
  #tokens: StoredTokens | undefined;
  #verifier = '';
  #discovery: Discovery | undefined;

  /**
   * @param port - port on which the assistant waits for the callback
   * @param browser - browser of the user
   */
  constructor(
    site: string,
    { clientId, clientMetadataUrl }: Identity,
    port: number,
    browser = new SignInBrowser(),
  ) {
    this.redirectUrl = `http://127.0.0.1:${port}/callback`;
    this.clientMetadata = {
      client_name: 'Assistant',
      redirect_uris: [this.redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    };
    if (clientMetadataUrl !== undefined) this.clientMetadataUrl = clientMetadataUrl;
    if (clientId !== undefined) this.#client = { client_id: clientId, issuer: site };
    this.browser = browser;
  }

  /** Consent pages that the user saw, as HTML. */
  get pages(): readonly string[] {
    return this.browser.consentPages;
  }

  clientInformation(): StoredClient | undefined {
    return this.#client;
  }
  saveClientInformation(client: StoredClient): void {
    this.#client = client;
  }
  tokens(): StoredTokens | undefined {
    return this.#tokens;
  }
  saveTokens(tokens: StoredTokens): void {
    this.#tokens = tokens;
  }
  codeVerifier(): string {
    return this.#verifier;
  }
  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }
  discoveryState(): Discovery | undefined {
    return this.#discovery;
  }
  saveDiscoveryState(discovery: Discovery): void {
    this.#discovery = discovery;
  }
  invalidateCredentials(scope: string): void {
    if (scope === 'all' || scope === 'tokens') this.#tokens = undefined;
  }

  /**
   * Replaces the access token by a token that the service does not know, as if the access token had expired.
   */
  loseAccessToken(): void {
    if (this.#tokens !== undefined)
      this.#tokens = { ...this.#tokens, access_token: `svc_at_${'a'.repeat(43)}` };
  }

  /** Lets the user sign in and approve the request. */
  async redirectToAuthorization(url: URL): Promise<void> {
    const callback = await this.browser.walk(url.href, this.redirectUrl);
    this.callback = callback.searchParams;
  }
}
