import type { Administration } from '@ostiary/core/admin';
import type { OperatorPages, PartnerConsole } from '@ostiary/core/console';
import { operatorsConsole, sandboxConsole } from '../src/index.ts';

interface Row {
  readonly path: string;
  readonly GET?: unknown;
  readonly POST?: unknown;
}

/**
 * Returns both consoles, the live portal, and the routes of all three, after a provider has created them, so that a test can visit all
 * pages.
 */
export function watchedConsoles() {
  const tables: Row[] = [];
  const kept = <Page extends Row>(prefix: string, pages: readonly Page[]): readonly Page[] => {
    tables.push(...pages.map((page) => ({ ...page, path: prefix + page.path })));
    return pages;
  };
  const [sandbox, operators] = [sandboxConsole(), operatorsConsole()];
  const { portal } = sandbox;
  const console: PartnerConsole = {
    ...sandbox,
    pages: (backend) => kept('', sandbox.pages(backend)),
    ...(portal !== undefined && {
      portal: { ...portal, pages: (backend) => kept('', portal.pages(backend)) },
    }),
  };
  const pages: OperatorPages<Administration> = {
    pages: (backend) => kept('/operators', operators.pages(backend)),
  };
  const withMethod = (method: 'GET' | 'POST') => (): string[] =>
    tables.flatMap((row) => (row[method] === undefined ? [] : [row.path]));
  return { console, pages, shown: withMethod('GET'), posted: withMethod('POST') };
}
