import { useData, withBase } from 'vitepress';
import { defineComponent, h, onMounted, onUnmounted, ref, watchEffect } from 'vue';

/**
 * Default URL for requests to the partner API until the reader enters another URL. A documentation site on
 * the reader's own machine forwards these requests to a service.
 */
const addressAtFirst = (): string =>
  location.hostname === 'localhost' ? location.origin : 'https://api.example.com';

/** Shows the OpenAPI document of the partner API, so that readers can try the API's operations. */
export const PartnerApi = defineComponent({
  name: 'PartnerApi',
  setup() {
    const { isDark } = useData();
    const styles = ref('');
    onMounted(async () => {
      const [{ default: swagger }, { default: css }, answer] = await Promise.all([
        import('swagger-ui-dist/swagger-ui-es-bundle.js'),
        // Import it as text, because VitePress uses one style sheet for the whole site.
        import('swagger-ui-dist/swagger-ui.css?inline'),
        fetch(withBase('/openapi.json')),
      ]);
      styles.value = css;
      const address = { default: addressAtFirst(), description: 'where the service is' };
      swagger({
        domNode: document.querySelector('.partner-api'),
        spec: { ...(await answer.json()), servers: [{ url: '{address}', variables: { address } }] },
        docExpansion: 'list',
        defaultModelsExpandDepth: -1,
        deepLinking: false,
        validatorUrl: null,
        // The default theme has too little contrast.
        syntaxHighlight: { theme: 'tomorrow-night' },
      });
    });
    const follow = () => document.documentElement.classList.toggle('dark-mode', isDark.value);
    onMounted(() => watchEffect(follow));
    onUnmounted(() => document.documentElement.classList.remove('dark-mode'));
    return () => [h('style', styles.value), h('div', { class: 'partner-api' })];
  },
});
