// Keeps parts of a page up to date: requests the HTML of each part from the server every second. Without this
// script, users reload the page.

const sign = document.querySelector('[data-live-sign]');
const status = document.getElementById('live-status');

function replace(part, html) {
  const open = [...part.querySelectorAll('details[open]')].map(({ id }) => id);
  const focused = document.activeElement?.closest('[data-live] [id]')?.id;
  part.innerHTML = html;
  for (const id of open) document.getElementById(id)?.setAttribute('open', '');
  document.getElementById(focused)?.querySelector('summary')?.focus();
  // One sentence for screen readers, not the whole list.
  const news = part.querySelector('[data-news]')?.dataset.news;
  if (news !== undefined && status !== null) status.textContent = news;
}

for (const part of document.querySelectorAll('[data-live]')) {
  let shown;
  const update = async () => {
    const response = await fetch(part.dataset.live).catch(() => null);
    const isLive = response?.ok === true;
    if (sign !== null) sign.hidden = !isLive;
    const html = isLive ? await response.text() : shown;
    if (html !== shown) replace(part, html);
    shown = html;
  };
  setInterval(update, 1_000);
  update();
}
