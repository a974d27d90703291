declare module '*.css';

declare module '*.css?inline' {
  const text: string;
  export default text;
}

declare module 'vitepress/theme-without-fonts' {
  import type { Theme } from 'vitepress';
  import type { Component } from 'vue';

  const theme: Theme & { readonly Layout: Component };
  export default theme;
}

declare module 'swagger-ui-dist/swagger-ui-es-bundle.js' {
  /** Renders an OpenAPI document into an element. */
  export default function swagger(options: {
    readonly domNode: Element | null;
    readonly spec: object;
    readonly docExpansion: 'list';
    readonly defaultModelsExpandDepth: number;
    readonly deepLinking: boolean;
    readonly validatorUrl: null;
    readonly syntaxHighlight: { readonly theme: 'tomorrow-night' };
  }): void;
}
