export { type PartnerApiKey, type PartnerConfig, type RegisteredClient, redirectUris } from './config.ts';
export { type PartnerApp, startPartnerApp } from './server.ts';
