import type { Theme } from 'vitepress';
import DefaultTheme from 'vitepress/theme-without-fonts';
import { PartnerApi } from './partner-api.ts';
import './style.css';

export default {
  extends: DefaultTheme,
  enhanceApp: ({ app }) => void app.component('PartnerApi', PartnerApi),
} satisfies Theme;
