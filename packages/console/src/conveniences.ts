/**
 * Script for the pages: buttons copy the text beside them and report that, a form that is on its way is not sent
 * again, the seconds to the next attempt count down, and a secret that is shown once is removed when its page is
 * left, also from the copy that a browser keeps for going back. The script makes no requests. A page that updates
 * itself (`live.ts`) receives the server's texts first; the script converts them before they are visible.
 */
export const conveniences = `
(() => {
  const root = document.documentElement;
  root.dataset.scripts = '';
  const said = document.createElement('p');
  said.className = 'hidden';
  said.setAttribute('role', 'status');
  document.querySelector('main')?.append(said);

  async function copy(button) {
    const shown = button.closest('.snippet').querySelector('pre, code');
    try {
      await navigator.clipboard.writeText(decodeURIComponent(button.dataset.copy) || shown.textContent);
      say(button.dataset.done);
    } catch {
      getSelection().selectAllChildren(shown);
      say(button.dataset.failed);
    }
  }

  function say(words) {
    // Screen readers would not announce an unchanged text.
    said.textContent = said.textContent === words ? words + '\\u00a0' : words;
    let shown = document.getElementById('copied');
    if (shown === null) {
      shown = document.createElement('div');
      shown.id = 'copied';
      shown.setAttribute('aria-hidden', 'true');
      document.body.append(shown);
    }
    shown.textContent = words;
    clearTimeout(say.timer);
    say.timer = setTimeout(() => shown.remove(), 3000);
  }

  document.addEventListener('click', ({ target }) => {
    const button = target.closest?.('button[data-copy]');
    if (button) copy(button);
  });

  // Somebody who presses a button again while the server is slow would do everything twice.
  let sent = new WeakMap();
  document.addEventListener('submit', (event) => {
    const { target, submitter } = event;
    if (target.getAttribute('method') !== 'post') return;
    const before = sent.get(target);
    if (before?.submitter === submitter && performance.now() - before.at < 10000) event.preventDefault();
    else sent.set(target, { submitter, at: performance.now() });
  });
  addEventListener('pageshow', () => {
    sent = new WeakMap();
  });

  addEventListener('pagehide', () => {
    for (const secret of document.querySelectorAll('[data-once]')) {
      secret.textContent = '';
      secret.removeAttribute('value');
    }
  });

  const ends = new WeakMap();
  // French stands in for Haitian Creole, which browsers do not support.
  const locales = [root.lang, 'fr'];
  const seconds = new Intl.RelativeTimeFormat(locales);
  const part = (unit) => new Intl.NumberFormat(locales, { style: 'unit', unit, unitDisplay: 'short' });
  const [minute, second] = [part('minute'), part('second')];

  function endOf(element) {
    const known = ends.get(element);
    const { left } = element.dataset;
    if (known?.left === left) return known.at;
    const at = performance.now() + Number(left);
    ends.set(element, { left, at });
    return at;
  }

  function count() {
    for (const element of document.querySelectorAll('[data-left]')) {
      const left = Math.max(0, Math.round((endOf(element) - performance.now()) / 1000));
      const isPlain = element.dataset.plain !== undefined;
      const minutes = Math.floor(left / 60);
      const longer = isPlain
        ? seconds.format(minutes, 'minute')
        : minute.format(minutes) + ' ' + second.format(left % 60);
      const words = left < 60 ? seconds.format(left, 'second') : longer;
      const text = isPlain ? words : '(' + words + ')';
      if (element.textContent !== text) element.textContent = text;
    }
  }

  count();
  setInterval(count, 1000);
  new MutationObserver(count).observe(document.body, { subtree: true, childList: true, characterData: true });
})();
`;
