export {
  type PartnerApiKey,
  type PartnerConfig,
  type RegisteredClient,
  redirectUris,
  type WebhookMode,
  type WebhookSettings,
  webhookModes,
  webhookUrls,
} from './config.ts';
export { type PartnerApp, startPartnerApp } from './server.ts';
