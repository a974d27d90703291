/** Colours, logo and name of the service on its pages. */
export interface Theme {
  /** Name of the service, shown on every page: 1 to 60 characters. @defaultValue `"Ostiary"` */
  readonly name?: string;
  /**
   * Logo of the service: a `data:image/…` URL (PNG, JPEG, WebP or SVG), or a path on `authUrl`, with at most
   * 100,000 characters. Pages load nothing from other hosts, so other URLs are refused.
   */
  readonly logo?: string;
  /** Colour of buttons and links: `#` and six hexadecimal digits. @defaultValue `"#1a4f8b"` */
  readonly colour?: string;
  /** Shows the handle (public name) of the signed-in user beside the name. @defaultValue false */
  readonly showHandle?: boolean;
}

/**
 * Lifetimes of refresh tokens. Each use replaces the token by a new one, except for clients with the profile
 * `fapi2`.
 */
export interface RefreshTokenOptions {
  /** Days after which an unused refresh token expires: above 0, at most 3,650. @defaultValue 30 */
  readonly idleDays?: number;
  /**
   * Days after which the user must sign in again, even if the refresh tokens were used: above 0, at most
   * 3,650. @defaultValue 180
   */
  readonly absoluteDays?: number;
}

/** Settings for clients whose `client_id` is the URL of a metadata document. */
export interface ClientMetadataDocumentOptions {
  /** Scopes that clients with a metadata document may request. */
  readonly scopes: readonly string[];
  /**
   * Decides whether a client is accepted, by the URL that is its `client_id`. Called for every authorization
   * request, every exchange of a code or refresh token, and requests such as a sign-out that name the client,
   * possibly several times.
   * @defaultValue every URL is accepted
   */
  readonly allow?: (url: URL) => Promise<boolean> | boolean;
  /**
   * Allows metadata documents at any address: private addresses, plain http, every port. For development and
   * tests on one machine; refused unless `authUrl` and `baseUrl` are loopback addresses.
   * @defaultValue false
   */
  readonly allowPrivateDocuments?: boolean;
}

/**
 * Compares a client secret with an imported hash. If the function rejects, the request gets a 500, and if it
 * takes longer than `hostTimeoutSeconds`, a 503, as for functions of `users`.
 */
export type VerifyImportedSecret = (secret: string, hash: string) => Promise<boolean> | boolean;
