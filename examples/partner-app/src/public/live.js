// Keeps parts of a page up to date. A part comes whole, as the server renders it for everybody; without this script one reloads.

function replace(part, html) {
  const next = document.createElement('template');
  next.innerHTML = html;
  // The first message is what the page shows already, unless something happened in between.
  if (next.innerHTML === part.innerHTML) return;
  const open = new Set([...part.querySelectorAll('details[open]')].map(({ id }) => id));
  const focused = part.contains(document.activeElement)
    ? document.activeElement.closest('[id]')?.id
    : undefined;
  for (const details of next.content.querySelectorAll('details')) details.open = open.has(details.id);
  part.replaceChildren(next.content);
  if (focused !== undefined) {
    const element = document.getElementById(focused);
    (element?.querySelector('summary, button') ?? element)?.focus();
  }
  // One sentence for screen readers, not the whole list.
  const news = part.querySelector('[data-news]')?.dataset.news;
  const status = document.getElementById('live-status');
  if (news !== undefined && status !== null && status.textContent !== news) status.textContent = news;
}

for (const part of document.querySelectorAll('[data-live]')) {
  const stream = new EventSource(part.dataset.live);
  stream.addEventListener('message', ({ data }) => replace(part, JSON.parse(data)));
  // A browser opens a lost stream again by itself; one that is refused is over.
  const sign = document.querySelector('[data-live-sign]');
  if (sign !== null) {
    stream.addEventListener('open', () => {
      sign.hidden = false;
    });
    stream.addEventListener('error', () => {
      sign.hidden = true;
    });
  }
}
