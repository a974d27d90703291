import { createHash } from 'node:crypto';
import { type Html, html, render } from '../html.ts';

/**
 * Keeps a page up to date where scripts run: asks for the page again every two seconds, as long as somebody
 * can see it, and changes what has changed in its regions `[data-live]`, node by node, so that focus, scroll
 * positions and open details stay. Without it the page is complete, and as old as its last load.
 *
 * Like the style sheet it holds none of the characters & < > " ' and so passes through the escaping `html`
 * tag unchanged.
 */
const source = `
(function () {
  const main = document.querySelector(\`main[data-etag]\`);
  if (main === null) return;
  const said = document.querySelector(\`#said\`);
  const pulse = document.querySelector(\`#pulse\`);
  const words = new Intl.RelativeTimeFormat(document.documentElement.lang);
  let etag = main.dataset.etag;
  let spoken = main.dataset.said;
  let skew = 0;
  let timer = 0;
  let busy = false;

  function write(node, text) {
    if (node.textContent !== text) node.textContent = text;
  }

  function tick() {
    for (const node of document.querySelectorAll(\`[data-due]\`)) {
      const seconds = Math.max(0, Math.round((Date.parse(node.dataset.due) - Date.now() - skew) / 1000));
      const minutes = Math.floor(seconds / 60);
      const left = minutes ? words.format(minutes, \`minute\`) : words.format(seconds, \`second\`);
      write(node, \`(\` + left + \`)\`);
    }
  }

  function lacks(parent, id) {
    return Array.from(parent.children).every(function (child) { return child.id !== id; });
  }

  function sync(from, to) {
    for (const name of from.getAttributeNames()) {
      if (name !== \`open\`) if (!to.hasAttribute(name)) from.removeAttribute(name);
    }
    for (const name of to.getAttributeNames()) {
      const value = to.getAttribute(name);
      if (from.getAttribute(name) !== value) from.setAttribute(name, value);
    }
    for (const child of Array.from(from.children)) {
      if (child.id) if (lacks(to, child.id)) child.remove();
    }
    let at = from.firstChild;
    for (const next of Array.from(to.childNodes)) {
      const fits = at ? (at.nodeName === next.nodeName ? at.id === next.id : false) : false;
      if (!fits) {
        from.insertBefore(document.importNode(next, true), at);
        continue;
      }
      const same = at;
      at = at.nextSibling;
      if (same.isEqualNode(next)) continue;
      if (same.nodeType === 1) sync(same, next);
      else same.nodeValue = next.nodeValue;
    }
    while (at) {
      const rest = at.nextSibling;
      at.remove();
      at = rest;
    }
  }

  function leave() {
    location.assign(main.dataset.exit);
    return false;
  }

  async function ask() {
    const answer = await fetch(location.href, {
      headers: { [\`If-None-Match\`]: etag, Accept: \`text/html\` },
      redirect: \`manual\`,
    });
    const date = Date.parse(answer.headers.get(\`Date\`));
    if (date) skew = date - Date.now();
    if (answer.status === 304) return true;
    if (answer.type === \`opaqueredirect\`) return leave();
    if (answer.status === 404) location.reload();
    if (answer.status !== 200) return false;
    const fresh = new DOMParser().parseFromString(await answer.text(), \`text/html\`);
    const next = fresh.querySelector(\`main[data-etag]\`);
    if (next === null) return leave();
    for (const region of fresh.querySelectorAll(\`[data-live]\`)) {
      const shown = document.getElementById(region.id);
      if (shown) sync(shown, region);
    }
    etag = next.dataset.etag;
    if (next.dataset.said !== spoken) {
      spoken = next.dataset.said;
      write(said, spoken);
    }
    return true;
  }

  async function poll() {
    if (busy) return;
    if (document.hidden) return;
    busy = true;
    clearTimeout(timer);
    let fine = false;
    try {
      fine = await ask();
    } catch {
      fine = false;
    }
    busy = false;
    pulse.dataset.state = fine ? \`live\` : \`lost\`;
    tick();
    timer = setTimeout(poll, fine ? 2000 : 5000);
  }

  pulse.hidden = false;
  tick();
  setInterval(tick, 1000);
  timer = setTimeout(poll, 2000);
  document.addEventListener(\`visibilitychange\`, poll);
  addEventListener(\`online\`, poll);
})();
`;

/** The script, to be put once at the end of a page. */
export const liveScript: Html = html`<script>${source}</script>`;

if (render(liveScript) !== `<script>${source}</script>`)
  throw new TypeError('the script must not contain & < > " or \'');

/** What `script-src` of the page's Content-Security-Policy must name. */
export const liveScriptHash = `'sha256-${createHash('sha256').update(source).digest('base64')}'`;

/** Names a state of what a page shows: the same content has the same tag, in every process. */
export function entityTag(regions: readonly Html[]): string {
  const digest = createHash('sha256').update(regions.map(render).join('\0')).digest('base64url');
  return `"${digest.slice(0, 22)}"`;
}
