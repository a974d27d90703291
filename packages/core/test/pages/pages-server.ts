import { text } from 'node:stream/consumers';
import type { Page } from '../../src/pages/layout.ts';
import { serve } from '../support/running.ts';

/** A server that shows pages under the policy that they are made for, and keeps the forms posted to it. */
export interface PagesServer {
  /** The address at which a page is shown. */
  show(page: Page): string;
  readonly posts: { readonly path: string; readonly fields: { readonly [name: string]: string } }[];
}

export async function startPagesServer(): Promise<PagesServer> {
  const pages: Page[] = [];
  const posts: PagesServer['posts'] = [];
  const origin = await serve(async (request, response) => {
    const { url: path = '', method } = request;
    if (method === 'POST') {
      posts.push({ path, fields: Object.fromEntries(new URLSearchParams(await text(request))) });
      return response.end('received');
    }
    if (path === '/logo.svg') {
      response.setHeader('Content-Type', 'image/svg+xml');
      return response.end(
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 80 20" width="80" height="20"/>',
      );
    }
    const page = pages[Number(/^\/page\/([0-9]+)$/.exec(path)?.[1])];
    if (!page) return response.writeHead(404).end();
    response.setHeader('Content-Type', 'text/html; charset=utf-8');
    response.setHeader(
      'Content-Security-Policy',
      `default-src 'none'; style-src ${page.styleHash}; img-src data: 'self'; base-uri 'none'; frame-ancestors 'none'`,
    );
    return response.end(page.html);
  });
  return { show: (page) => `${origin}/page/${pages.push(page) - 1}`, posts };
}
