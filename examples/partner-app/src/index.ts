export {
  type PartnerApiKey,
  type PartnerConfig,
  redirectUris,
  type WebhookMode,
  type WebhookSettings,
  webhookModes,
  webhookUrls,
} from './config.ts';
export { startPartnerApp } from './server.ts';
