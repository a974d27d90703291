import type { Context } from 'koa';

export type Handler = (ctx: Context) => void | Promise<void>;

export interface Route {
  readonly path: string;
  /** One-line description of the route, for the generated documentation. */
  readonly summary: string;
  /** Name of the option whose URL the route's path is below. */
  readonly below: 'authUrl' | 'baseUrl';
  /** Format of the route's errors: a page for browsers, otherwise JSON of OAuth or of the partner API. */
  readonly errors: 'page' | 'json' | 'partner';
  /**
   * True if a GET request to the route changes something. Browsers that request pages ahead of their user then
   * get an empty 204.
   */
  readonly changesOnGet?: true;
  readonly handlers: { readonly [method: string]: Handler };
}
