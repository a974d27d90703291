import type { Context } from 'koa';

export type Handler = (ctx: Context) => void | Promise<void>;

export interface Route {
  readonly path: string;
  /** One-line description of the route, for the generated documentation. */
  readonly summary: string;
  /** The configured URL that the path is below. */
  readonly below: 'authUrl' | 'baseUrl';
  /** Format of errors: a page for browsers, otherwise JSON of OAuth or of the partner API. */
  readonly errors: 'page' | 'json' | 'partner';
  /**
   * True if a GET changes something. Such a GET is refused to browsers that request pages ahead of their
   * user.
   */
  readonly changesOnGet?: true;
  readonly handlers: { readonly [method: string]: Handler };
}
