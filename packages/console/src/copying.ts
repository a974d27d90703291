/**
 * Buttons that copy a text of the page: out of sight until scripts run, as nothing else can copy. Where the browser does not
 * let them (on plain http), the text is selected for the keyboard.
 *
 * A secret that is shown once leaves with its page: a browser that keeps a page to go back to keeps it without.
 */
export const copying = `
(() => {
  for (const button of document.querySelectorAll('button[data-copies]')) {
    const text = document.getElementById(button.dataset.copies);
    const said = document.getElementById(button.dataset.copies + '-said');
    button.hidden = false;
    button.addEventListener('click', async () => {
      try {
        await navigator.clipboard.writeText(text.textContent);
        said.textContent = button.dataset.done;
      } catch {
        getSelection().selectAllChildren(text);
        said.textContent = button.dataset.selected;
      }
    });
  }
  addEventListener('pagehide', () => {
    for (const secret of document.querySelectorAll('[data-once]')) {
      secret.textContent = '';
      secret.removeAttribute('value');
    }
  });
})();
`;
