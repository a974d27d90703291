import { onContentUpdated } from 'vitepress';
import { onMounted, onUnmounted } from 'vue';

const tabsOf = (group: Element): HTMLLabelElement[] => Array.from(group.querySelectorAll('.tabs label'));

/** Names a kind of tab group by its tabs, such as `code in curl, Node, Python`. */
const kindOf = (group: Element): string =>
  `code in ${tabsOf(group)
    .map(({ textContent }) => textContent)
    .join(', ')}`;

/**
 * Languages that the reader chose, by kind of tab group. The browser keeps the choice if it allows storage.
 */
const chosen = new Map<string, string>();

function recall(kind: string): string | null {
  try {
    return chosen.get(kind) ?? localStorage.getItem(kind);
  } catch {
    return null;
  }
}

function remember(kind: string, language: string): void {
  chosen.set(kind, language);
  try {
    localStorage.setItem(kind, language);
  } catch {
    // Without the browser's storage, the choice lasts until the reader leaves the site.
  }
}

/** Opens the tabs of the chosen languages in all tab groups of the page. */
function openChosen(): void {
  for (const group of document.querySelectorAll('.vp-code-group')) {
    const language = recall(kindOf(group));
    const control = tabsOf(group).find(({ textContent }) => textContent === language)?.control;
    if (control instanceof HTMLInputElement) control.checked = true;
  }
}

function tabChanged({ target }: Event): void {
  if (!(target instanceof HTMLInputElement)) return;
  const group = target.closest('.vp-code-group');
  const language = target.labels?.[0]?.textContent;
  if (group === null || language === null || language === undefined) return;
  const before = group.getBoundingClientRect().top;
  remember(kindOf(group), language);
  openChosen();
  // Keep the group where the reader sees it, because groups above it have other heights now.
  scrollBy({ top: group.getBoundingClientRect().top - before, behavior: 'instant' });
}

/**
 * Shows the language that a reader chose in one group of code tabs in all groups with the same tabs, on every
 * page.
 */
export function followChosenLanguage(): void {
  onContentUpdated(openChosen);
  onMounted(() => document.addEventListener('change', tabChanged));
  onUnmounted(() => document.removeEventListener('change', tabChanged));
}
