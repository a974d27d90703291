import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { conveniences } from './conveniences.ts';

/**
 * Keeps a page up to date where scripts run: asks for the page again every two seconds, as long as somebody can see it, and
 * lets idiomorph change what has changed in its regions `[data-live]`, so that focus, scroll positions and open details stay.
 * Without it the page is complete, and as old as its last load.
 */
const watch = `
(() => {
  const main = document.querySelector('main[data-exit]');
  if (main === null) return;
  const pulse = document.getElementById('pulse');
  const options = { callbacks: { beforeAttributeUpdated: (name) => name !== 'open' } };
  let timer = 0;
  let busy = false;

  async function ask() {
    const answer = await fetch(location.href, { headers: { Accept: 'text/html' } });
    if (answer.status === 404) location.reload();
    if (answer.status !== 200) return false;
    const fresh = new DOMParser().parseFromString(await answer.text(), 'text/html');
    // The session is over.
    if (fresh.querySelector('main[data-exit]') === null) location.assign(main.dataset.exit);
    for (const region of fresh.querySelectorAll('[data-live]')) {
      const shown = document.getElementById(region.id);
      if (shown !== null) Idiomorph.morph(shown, region, options);
    }
    return true;
  }

  async function poll() {
    if (busy || document.hidden) return;
    busy = true;
    clearTimeout(timer);
    const isFine = await ask().catch(() => false);
    busy = false;
    pulse.dataset.state = isFine ? 'live' : 'lost';
    timer = setTimeout(poll, isFine ? 2000 : 5000);
  }

  pulse.hidden = false;
  timer = setTimeout(poll, 2000);
  document.addEventListener('visibilitychange', poll);
  addEventListener('online', poll);
})();
`;

/** The one script of the pages, with the name of its state. */
export function liveScript(): { readonly text: string; readonly version: string } {
  const idiomorph = createRequire(import.meta.url).resolve('idiomorph/dist/idiomorph.min.js');
  const text = `${readFileSync(idiomorph, 'utf8')}\n${watch}\n${conveniences}`;
  return { text, version: createHash('sha256').update(text).digest('hex').slice(0, 16) };
}
