import { type Asset, assetOf } from './assets.ts';
import { conveniences } from './conveniences.ts';
import { idiomorph } from './idiomorph.built-in.ts';
import { shortcuts } from './shortcuts.ts';

/**
 * Script that keeps an open page up to date: it opens a stream of the page's new versions while the page is
 * visible, and lets idiomorph change the `[data-live]` regions, so that focus, scroll positions and open
 * details stay. A hidden page has no stream, because browsers limit the connections to a server. Without
 * scripts the page is complete and shows the state of its last load.
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

  // Reopens a stream that ended, soon and without a message the first time. Random delays spread the clients
  // of a server that stops.
  function fail() {
    close();
    failures += 1;
    if (failures > 1) lose();
    if (!document.hidden) timer = setTimeout(open, (0.5 + Math.random()) * Math.min(1000 * 2 ** (failures - 1), 60000));
  }

  // The server sends a message after 15 seconds without changes, or after 30 if its checks are rare.
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
  addEventListener('online', () => document.hidden || open());
  addEventListener('offline', lose);
})();
`;

const scriptOf = (text: string): Asset => assetOf(text, 'text/javascript; charset=utf-8');

/** Returns the script of pages that update themselves. */
export const liveScript = (): Asset => scriptOf(`${idiomorph}\n${watch}\n${conveniences}\n${shortcuts}`);

/** Returns the script of pages that do not update themselves. */
export const pageScript = (): Asset => scriptOf(`${conveniences}\n${shortcuts}`);
