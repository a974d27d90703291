import { withBase } from 'vitepress';
import { defineComponent, h, onMounted, reactive, ref, type VNode } from 'vue';

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly example?: unknown;
}

interface Operation {
  readonly operationId: string;
  readonly parameters: readonly Partial<Parameter>[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly example: unknown }>> };
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

let described: Promise<Document> | null = null;

/** Returns the operations of the partner API, with their methods and paths. */
async function operations() {
  described ??= fetch(withBase('/openapi.json')).then((answer) => answer.json() as Promise<Document>);
  return Object.entries((await described).paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      path,
      method: method.toUpperCase(),
    })),
  );
}

/**
 * URL of the service and API key that the reader entered, used for all operations. The page forgets both when
 * it is closed.
 */
const entered = reactive({ service: '', key: '' });

/**
 * Returns the default URL of the service. A documentation site on the reader's own machine forwards requests
 * to a service.
 */
const defaultService = (): string =>
  location.hostname === 'localhost' ? location.origin : 'https://api.example.com';

const textIn = ({ target }: Event): string =>
  String((target as HTMLInputElement | HTMLTextAreaElement).value);

/** Shows a form that sends an API request from the reader's browser, and shows the response. */
export const TryCall = defineComponent({
  name: 'TryCall',
  props: { operation: { type: String, required: true } },
  setup({ operation: name }) {
    const isReady = ref(false);
    const method = ref('');
    const path = ref('');
    const parameters = ref<readonly Parameter[]>([]);
    const values = reactive<Record<string, string>>({});
    const body = ref<string | null>(null);
    const response = ref('');

    async function prepare(): Promise<void> {
      const found = (await operations()).find(({ operationId }) => operationId === name);
      if (found === undefined || method.value !== '') return;
      if (entered.service === '') entered.service = defaultService();
      // References are headers that a request does not need.
      parameters.value = found.parameters.filter((one): one is Parameter => one.name !== undefined);
      for (const one of parameters.value) values[one.name] = one.required ? String(one.example) : '';
      const example = found.requestBody?.content['application/json']?.example;
      body.value = example === undefined ? null : JSON.stringify(example, null, 2);
      path.value = found.path;
      method.value = found.method;
    }

    async function send(event: Event): Promise<void> {
      event.preventDefault();
      const target = path.value.replace(/\{(\w+)\}/g, (_, one: string) =>
        encodeURIComponent(values[one] ?? ''),
      );
      const url = new URL(entered.service.replace(/\/$/, '') + target);
      for (const { name: one, in: place } of parameters.value)
        if (place === 'query' && values[one] !== '') url.searchParams.set(one, values[one] ?? '');
      response.value = 'Waiting for the response …';
      try {
        const answer = await fetch(url, {
          method: method.value,
          headers: {
            'X-API-Key': entered.key,
            ...(body.value !== null && { 'Content-Type': 'application/json' }),
          },
          body: body.value,
        });
        response.value = `${answer.status} ${answer.statusText}\n\n${await answer.text()}`;
      } catch (error) {
        response.value = `The browser got no response: ${error}. It may only call services that answer the origin of this page.`;
      }
    }

    const field = (label: string, input: VNode): VNode => h('label', [h('span', label), input]);
    const form = (): VNode =>
      h('form', { onSubmit: send }, [
        field(
          'Service',
          h('input', {
            value: entered.service,
            type: 'url',
            required: true,
            onInput: (event: Event) => (entered.service = textIn(event)),
          }),
        ),
        field(
          'Test key',
          h('input', {
            value: entered.key,
            type: 'password',
            autocomplete: 'off',
            required: true,
            onInput: (event: Event) => (entered.key = textIn(event)),
          }),
        ),
        ...parameters.value.map(({ name: one, required }) =>
          field(
            one,
            h('input', {
              value: values[one],
              required,
              onInput: (event: Event) => (values[one] = textIn(event)),
            }),
          ),
        ),
        ...(body.value === null
          ? []
          : [
              field(
                'Body',
                h('textarea', {
                  value: body.value,
                  rows: 8,
                  onInput: (event: Event) => (body.value = textIn(event)),
                }),
              ),
            ]),
        h('button', { type: 'submit' }, `Send ${method.value}`),
        h(
          'div',
          { 'aria-live': 'polite' },
          response.value === '' ? [] : [h('pre', { tabindex: 0 }, response.value)],
        ),
      ]);

    // The form needs script, so it appears with it.
    onMounted(() => {
      isReady.value = true;
    });
    return () =>
      isReady.value
        ? h('details', { class: 'try', onToggle: prepare }, [
            h('summary', `Try ${name} in your browser`),
            ...(method.value === '' ? [] : [form()]),
          ])
        : null;
  },
});
