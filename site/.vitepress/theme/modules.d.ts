declare module '*.css';

declare module 'vitepress/theme-without-fonts' {
  import type { Theme } from 'vitepress';
  import type { Component } from 'vue';

  const theme: Theme & { readonly Layout: Component };
  export default theme;
}
