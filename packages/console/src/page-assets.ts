import type { ConsoleBackend, ConsolePage } from '@ostiary/core/console';
import { type Asset, answerAsset } from './assets.ts';
import { liveScript } from './live.ts';
import { pathOf } from './paths.ts';
import { consoleStyle } from './style.ts';
import type { Visit } from './visit.ts';

/** Script and style sheet files that the pages load. */
export interface PageAssets {
  readonly script: Asset;
  readonly style: Asset;
}

/** Makes the script and the style sheet of the pages. */
export const pageAssets = ({ theme }: Pick<ConsoleBackend, 'theme'>): PageAssets => ({
  script: liveScript(),
  style: consoleStyle(theme),
});

/** Routes of the script and the style sheet that the pages of a mode (test or live) load. */
export const assetPages = (mode: Visit['mode'], { script, style }: PageAssets): ConsolePage[] => [
  {
    path: pathOf(mode, 'script'),
    summary: 'The script that keeps the pages up to date.',
    GET: async () => answerAsset(script, 'public'),
  },
  {
    path: pathOf(mode, 'style'),
    summary: 'The style sheet of the pages.',
    GET: async () => answerAsset(style, 'public'),
  },
];
