import type { Context } from 'koa';

export type Handler = (ctx: Context) => void | Promise<void>;

export interface Route {
  readonly path: string;
  /** For the documentation. */
  readonly summary: string;
  /** Which of the two configured addresses the path is below. */
  readonly below: 'authUrl' | 'baseUrl';
  /** How an error is answered: with a page where browsers come, as JSON of OAuth or of the partner API elsewhere. */
  readonly errors: 'page' | 'json' | 'partner';
  /** Whether a GET changes something, and so is not answered where a browser asks ahead of its user. */
  readonly changesOnGet?: true;
  readonly handlers: { readonly [method: string]: Handler };
}
