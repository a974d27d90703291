/**
 * Script for the navigation of a page: `/` and Ctrl-K (Command-K) move the focus to the search box, and the
 * navigation on a phone is scrolled to the current section.
 */
export const shortcuts = `
(() => {
  const box = document.querySelector('input[data-search]');
  document.addEventListener('keydown', (event) => {
    if (box === null || event.altKey || event.shiftKey || event.isComposing) return;
    const isTyping = event.target.matches?.('input, textarea, select');
    const hasModifier = event.ctrlKey || event.metaKey;
    const isMeant = hasModifier ? event.key.toLowerCase() === 'k' : event.key === '/' && !isTyping;
    if (!isMeant) return;
    event.preventDefault();
    box.focus();
    box.select();
  });

  const sections = document.querySelector('.sections');
  const here = sections?.querySelector('[aria-current]')?.getBoundingClientRect();
  if (here === undefined) return;
  const frame = sections.getBoundingClientRect();
  sections.scrollLeft += here.left + here.width / 2 - frame.left - frame.width / 2;
})();
`;
