import { globSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vitepress';
import { codeGroups, formsToTry, linksOfPages, slugify } from '../src/markdown.ts';
import { pages, repository, root } from '../src/repository.ts';
import { searching } from '../src/searching.ts';
import { sidebar } from '../src/sidebar.ts';
import { version } from '../src/version.ts';
import versions from '../versions.json' with { type: 'json' };

/** Mark of the product's pages: the product's initial on a tile. */
const mark = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 40"><rect width="40" height="40" rx="10" fill="#1a4f8b"/><text x="20" y="20" text-anchor="middle" dominant-baseline="central" font-family="system-ui, sans-serif" font-size="24" font-weight="700" fill="#fff">O</text></svg>',
)}`;

export default defineConfig({
  srcDir: root,
  srcExclude: globSync('**/*.md', { cwd: root, exclude: ['**/node_modules', '**/dist'] }).filter(
    (page) => !pages.has(page),
  ),
  outDir: 'dist',
  cacheDir: '../node_modules/.cache/site',
  rewrites: Object.fromEntries(pages),
  base: version.base,
  lang: 'en',
  title: 'Ostiary',
  description: 'An OAuth 2.0 and OpenID Connect identity provider that you embed in your own server',
  cleanUrls: true,
  head: [
    ['link', { rel: 'icon', href: mark }],
    // Groups of the sidebar open by script, so without script they are open.
    ['noscript', {}, '<style>.VPSidebarItem.collapsed > .items { display: block !important; }</style>'],
  ],
  // Ignore links to the TypeScript reference, which another program builds beside the pages.
  ignoreDeadLinks: [/^\/typescript\//, /^http:\/\/localhost/],
  markdown: {
    anchor: { slugify },
    toc: { slugify },
    config: (markdown) => {
      codeGroups(markdown);
      formsToTry(markdown);
      linksOfPages(markdown);
    },
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
  },
  vite: {
    // Resolve dependencies here, because pages lie outside of this package.
    resolve: {
      alias: {
        'vue/server-renderer': join(root, 'site/node_modules/vue/server-renderer/index.mjs'),
        vue: join(root, 'site/node_modules/vue/dist/vue.runtime.esm-bundler.js'),
      },
    },
  },
  themeConfig: {
    logo: { src: mark, alt: '' },
    nav: [
      { text: 'Docs', link: '/docs' },
      { text: 'Partner API', link: '/reference/partner-endpoints' },
      { text: 'Recipes', link: '/recipes' },
      { text: 'TypeScript', link: '/typescript/index.html', target: '_self' },
      {
        text: `Version: ${version.name}`,
        // Matches no page: otherwise the current version would be marked as the current page.
        items: versions.map(({ name, path }) => ({
          text: name,
          link: `${version.home}${path}`,
          target: '_self',
          activeMatch: '(?!)',
        })),
      },
    ],
    sidebar,
    darkModeSwitchTitle: 'Dark',
    lightModeSwitchTitle: 'Light',
    outline: { level: [2, 3] },
    editLink: { pattern: `${repository}/edit/main/:path`, text: 'Edit this page' },
    socialLinks: [{ icon: 'github', link: repository }],
    search: {
      provider: 'local',
      options: {
        // Index code as plain text: highlighting would take half of the time, and is not searched.
        _render: (text, env, markdown) => {
          const html = markdown.render(text.replace(/^( *```)\w+$/gm, '$1txt'), env);
          return env.frontmatter?.search === false ? '' : html;
        },
        miniSearch: searching,
      },
    },
  },
});
