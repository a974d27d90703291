import { useData, withBase } from 'vitepress';
import { defineComponent, h, onMounted, ref, watch } from 'vue';

/** Shows a link to the Markdown of the page, and a button that copies the Markdown. */
export const ForAssistants = defineComponent({
  name: 'ForAssistants',
  setup() {
    const { page } = useData();
    const label = ref<string | null>(null);
    const ready = 'Copy for your assistant';
    const address = (): string => withBase(`/${page.value.relativePath}`);
    const copy = async (): Promise<void> => {
      try {
        const answer = await fetch(address());
        if (!answer.ok) throw new Error(`${address()}: ${answer.status}`);
        await navigator.clipboard.writeText(await answer.text());
        label.value = 'Copied';
      } catch {
        label.value = 'Not copied. Open the Markdown instead.';
      }
    };
    // The button needs script, so it appears with it.
    onMounted(() => {
      label.value = ready;
    });
    watch(address, () => {
      label.value = ready;
    });
    return () =>
      h('aside', { class: 'for-assistants', 'aria-label': 'For your assistant' }, [
        label.value !== null &&
          h('button', { type: 'button', 'aria-live': 'polite', onClick: copy }, label.value),
        h('a', { href: address(), target: '_self' }, 'Markdown of this page'),
      ]);
  },
});
