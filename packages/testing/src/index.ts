/**
 * Runs the whole service in the memory of a test, for partners and for developers who embed Ostiary. Works
 * with every test runner.
 *
 * @packageDocumentation
 */
export type { SignInContext, TestBrowser } from './browser.ts';
export type { Duration, TestClock } from './clock.ts';
export { createTestOstiary } from './create.ts';
export type { CapturedDelivery } from './delivery.ts';
export type { DeliveryFault, RequestFault, TestFaults, WebhookFaults } from './faults.ts';
export type { HostBrowser, TestPage, Walk } from './host/browser.ts';
export type { FakeApp, FakeSession, FakeTokens } from './host/fake-app.ts';
export type { HostTestOptions, HostTestOstiary, TestServer } from './host/kit.ts';
export type { TestInbox } from './inbox.ts';
export type { TestEndpoint, TestKey, TestOstiary, TestOstiaryOptions } from './kit.ts';
export type { Fetch } from './network.ts';
export type { Authorization, AuthorizeOptions, AuthorizingUser, TestClient, TestOAuth } from './oauth.ts';
export type { Limits } from './plans.ts';
export type { RailEntry, RailFailure, TestRail } from './rail.ts';
export type { TestUser, TestUsers, UserReference } from './users.ts';
export type { Receiver } from './webhooks.ts';
