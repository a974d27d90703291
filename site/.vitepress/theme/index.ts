import type { Theme } from 'vitepress';
import DefaultTheme from 'vitepress/theme-without-fonts';
import { defineComponent, h } from 'vue';
import { followChosenLanguage } from './code-language.ts';
import { ForAssistants } from './for-assistants.ts';
import './landing.css';
import './style.css';
import { TryCall } from './try-call.ts';

const Layout = defineComponent({
  name: 'SiteLayout',
  setup() {
    followChosenLanguage();
    return () => h(DefaultTheme.Layout, null, { 'doc-before': () => h(ForAssistants) });
  },
});

export default {
  extends: DefaultTheme,
  Layout,
  enhanceApp: ({ app }) => void app.component('TryCall', TryCall),
} satisfies Theme;
