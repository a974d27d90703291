import { serve } from './running.ts';

/** Response of the web server to a request for a metadata document. */
interface Served {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
}

/**
 * Web server of app makers, which serves client ID metadata documents on a free port of the loopback address.
 */
export class DocumentHost {
  /** Paths of the requests that the web server got so far. */
  readonly requests: string[] = [];
  readonly #served = new Map<string, Served>();
  #origin = '';

  /** Starts a web server for metadata documents, which is closed after the test. */
  static async start(): Promise<DocumentHost> {
    const host = new DocumentHost();
    host.#origin = await serve(({ url = '' }, response) => {
      host.requests.push(url);
      const { status = 200, headers = {}, body } = host.#served.get(url) ?? { status: 404, body: '' };
      response.writeHead(status, { 'content-type': 'application/json', ...headers });
      response.end(body);
    });
    return host;
  }

  get origin(): string {
    return this.#origin;
  }

  /** Serves the given content at a path. Returns the URL. */
  serve(path: string, served: Served): string {
    this.#served.set(path, served);
    return `${this.origin}${path}`;
  }

  /**
   * Serves a valid metadata document of an app; `changes` replaces members, `undefined` removes them. Returns
   * the client id.
   */
  document(
    path: string,
    changes: Readonly<Record<string, unknown>> = {},
    headers: Readonly<Record<string, string>> = {},
  ): string {
    const document = {
      client_id: `${this.origin}${path}`,
      client_name: 'Assistant',
      redirect_uris: ['http://127.0.0.1/callback'],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      ...changes,
    };
    return this.serve(path, { headers, body: JSON.stringify(document) });
  }
}
