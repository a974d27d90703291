import type { OAuthDiscoveryState } from '@modelcontextprotocol/sdk/client/auth.js';
import type { OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js';
import { TestBrowser } from '../../../../packages/core/test/support/browser.ts';

/** Client id or metadata document with which an assistant identifies itself. */
export interface Identity {
  /** Id of a client that an administrator provisioned. */
  readonly clientId?: string;
  /** URL of its metadata document. */
  readonly clientMetadataUrl?: string;
}

/** Tokens as clients store them, with the authorization server that issued them. */
type StoredTokens = OAuthTokens & { readonly issuer?: string };
/** Metadata of an MCP server and its authorization server, as a client caches them. */
type Discovery = OAuthDiscoveryState;
type StoredClient = { readonly client_id: string; readonly issuer?: string };

/**
 * An assistant that uses the MCP client of either SDK. It stores the client's tokens, and opens authorization
 * requests in a browser, whose user signs in and approves.
 */
export class Assistant {
  readonly redirectUrl: string;
  readonly clientMetadata;
  readonly clientMetadataUrl?: string;
  /** Consent pages that the user saw, as HTML. */
  readonly pages: string[] = [];
  /** Parameters of the last callback. */
  callback = new URLSearchParams();
  readonly #browser: TestBrowser;
  #client: StoredClient | undefined;
  #tokens: StoredTokens | undefined;
  #verifier = '';
  #discovery: Discovery | undefined;

  /** @param port - port on which the assistant waits for the callback */
  constructor(site: string, { clientId, clientMetadataUrl }: Identity, port: number) {
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
    this.#browser = new TestBrowser(site);
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

  /** Replaces the access token by one that the service does not know, as if it had expired. */
  loseAccessToken(): void {
    if (this.#tokens !== undefined)
      this.#tokens = { ...this.#tokens, access_token: `svc_at_${'a'.repeat(43)}` };
  }

  /** Lets the user sign in and approve. */
  async redirectToAuthorization(url: URL): Promise<void> {
    let address = url.href;
    let answer = await this.#browser.get(address);
    for (let step = 0; step < 12; step += 1) {
      const csrf = /name="csrf" value="([^"]+)"/.exec(answer.text)?.[1];
      const returnTo = /name="return_to" value="([^"]+)"/.exec(answer.text)?.[1];
      if (answer.location?.startsWith(`${this.redirectUrl}?`)) {
        this.callback = new URL(answer.location).searchParams;
        return;
      }
      if (answer.location !== null) {
        address = answer.location;
        answer = await this.#browser.get(address);
      } else if (csrf !== undefined) {
        this.pages.push(answer.text);
        answer = await this.#browser.post(address, { csrf, decision: 'approve' });
      } else if (returnTo !== undefined) {
        answer = await this.#browser.post(address, {
          name: 'ana',
          return_to: returnTo.replaceAll('&amp;', '&'),
        });
      } else throw new Error(`the flow stopped with ${answer.status}: ${answer.text.slice(0, 300)}`);
    }
    throw new Error('the flow goes in circles');
  }
}
