import type { Context } from 'koa';

export type Handler = (ctx: Context) => void | Promise<void>;

export interface Route {
  readonly path: string;
  /** For the documentation. */
  readonly summary: string;
  /** The configured URL that the path is below. */
  readonly below: 'authUrl' | 'baseUrl';
  /** Format of errors: a page where browsers come, otherwise JSON of OAuth or of the partner API. */
  readonly errors: 'page' | 'json' | 'partner';
  /** True if a GET changes something, so that it is refused to a browser that fetches ahead of its user. */
  readonly changesOnGet?: true;
  readonly handlers: { readonly [method: string]: Handler };
}
