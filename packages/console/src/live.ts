import { createHash } from 'node:crypto';
import { conveniences } from './conveniences.ts';
import { idiomorph } from './idiomorph.built-in.ts';

/**
 * Keeps a page up to date where scripts run: opens a stream that says what the page has become as long as somebody can see it, and lets
 * idiomorph change its regions `[data-live]`, so that focus, scroll positions and open details stay. A hidden page has no stream:
 * browsers have few connections to a server. Without it the page is complete, and as old as its last load.
 */
const watch = `
(() => {
  const main = document.querySelector('main[data-exit]');
  if (main === null) return;
  const pulse = document.getElementById('pulse');
  const options = { callbacks: { beforeAttributeUpdated: (name) => name !== 'open' } };
  let source = null;
  let timer = 0;
  let silence = 0;
  let failures = 0;

  function close() {
    clearTimeout(timer);
    clearTimeout(silence);
    source?.close();
    source = null;
  }

  function lose() {
    pulse.dataset.state = 'lost';
  }

  // A stream that ends is opened again soon and without a word: those of a server that closes not all at once.
  function fail() {
    close();
    failures += 1;
    if (failures > 1) lose();
    if (!document.hidden) timer = setTimeout(open, (0.5 + Math.random()) * Math.min(1000 * 2 ** (failures - 1), 60000));
  }

  // The server says at least every 15 seconds that it is there.
  function listen() {
    clearTimeout(silence);
    silence = setTimeout(fail, 40000);
  }

  function hear() {
    failures = 0;
    pulse.dataset.state = 'live';
    listen();
  }

  function change({ data }) {
    hear();
    const fresh = new DOMParser().parseFromString(data, 'text/html');
    for (const region of fresh.querySelectorAll('[data-live]')) {
      const shown = document.getElementById(region.id);
      if (shown !== null) Idiomorph.morph(shown, region, options);
    }
  }

  function open() {
    close();
    listen();
    source = new EventSource(location.href);
    source.onerror = fail;
    source.addEventListener('page', change);
    source.addEventListener('still', hear);
    source.addEventListener('reload', () => location.reload());
    source.addEventListener('ended', () => location.assign(main.dataset.exit));
  }

  pulse.hidden = false;
  if (!document.hidden) open();
  document.addEventListener('visibilitychange', () => (document.hidden ? close() : open()));
  addEventListener('online', open);
  addEventListener('offline', lose);
})();
`;

/** The one script of the pages, with the name of its state. */
export function liveScript(): { readonly text: string; readonly version: string } {
  const text = `${idiomorph}\n${watch}\n${conveniences}`;
  return { text, version: createHash('sha256').update(text).digest('hex').slice(0, 16) };
}
