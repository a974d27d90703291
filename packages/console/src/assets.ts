import { createHash } from 'node:crypto';
import type { ConsoleAnswer } from '@ostiary/core/console';

/** A script or a style sheet of the console's pages, with a hash of its text as its version. */
export interface Asset {
  readonly text: string;
  readonly type: string;
  readonly version: string;
}

export const assetOf = (text: string, type: string): Asset => ({
  text,
  type,
  version: createHash('sha256').update(text).digest('hex').slice(0, 16),
});

/**
 * Makes the response that serves a script or style sheet. Its URL contains its version, so browsers may cache
 * it.
 */
export const answerAsset = ({ text, type }: Asset, cache: 'public' | 'private'): ConsoleAnswer => ({
  status: 200,
  headers: { 'Content-Type': type, 'Cache-Control': `${cache}, max-age=31536000, immutable` },
  body: text,
});

/** Returns the source of a script or style sheet for a Content-Security-Policy: its URL without the query. */
export const sourceOf = (url: string): string => `${new URL(url).origin}${new URL(url).pathname}`;
