import type { Context } from 'koa';

/** Answers one request. */
export type Handler = (ctx: Context) => void | Promise<void>;

/** One line of a route table. */
export interface Route {
  readonly path: string;
  /** For the documentation. */
  readonly summary: string;
  /** Which of the two configured addresses the path is below. */
  readonly below: 'authUrl' | 'baseUrl';
  /**
   * How an error is answered: with a page where browsers come, as JSON in the words of OAuth or of the
   * partner API everywhere else.
   */
  readonly errors: 'page' | 'json' | 'partner';
  readonly handlers: { readonly [method: string]: Handler };
}
