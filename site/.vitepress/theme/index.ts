import type { Theme } from 'vitepress';
import DefaultTheme from 'vitepress/theme-without-fonts';
import { h } from 'vue';
import { ForAssistants } from './for-assistants.ts';
import './landing.css';
import { PartnerApi } from './partner-api.ts';
import './style.css';

export default {
  extends: DefaultTheme,
  Layout: () => h(DefaultTheme.Layout, null, { 'doc-before': () => h(ForAssistants) }),
  enhanceApp: ({ app }) => void app.component('PartnerApi', PartnerApi),
} satisfies Theme;
