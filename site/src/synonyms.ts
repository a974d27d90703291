/**
 * Words of readers that a page itself does not use, by the path of the page in the repository. The search
 * counts these words more than the title of the page (`boost` in `searching.ts`).
 */
export const synonyms: { readonly [page: string]: string } = {
  'README.md': 'what is this, about, introduction, intro, overview, why, features',
  'docs/quickstart-embed.md':
    'getting started, get started, start here, first steps, beginner, tutorial, hello world, example app, how to install, install, installation, npm install, setup',
  'docs/concepts.md': 'glossary, terms, terminology, definitions, vocabulary, basics, how it works',
  'docs/comparison.md':
    'auth0 alternative, okta, clerk, cognito, firebase auth, supabase, supertokens, logto, versus, vs, compare, competitors, pricing, license, mysql, mariadb, mongodb, supported databases, limitations',
  'docs/mounting.md':
    'nextjs, next, expressjs, nestjs, honojs, koajs, frameworks, framework, middleware, integrate, helmet, csp',
  'docs/embedding.md':
    'forgot password, reset password, change password, registration, register users, sign up, signup, user accounts, user model, login page, sessions, theming, theme, branding, brand, logo, colors, colours, css, customize pages, localization, translations, i18n, session expiry',
  'docs/own-api.md':
    'jwt middleware, bearer token, verify access token, guard, authorization middleware, introspection, resource server, cors',
  'docs/mcp.md': 'chatgpt, claude, cursor, copilot, connector, ai agent, agents, llm, model context protocol',
  'docs/administration.md': 'new partner, create client, api keys, client id, client secret, revoke key',
  'docs/configuration.md': 'settings, config, go live, production ready, hardening',
  'docs/testing.md': 'unit tests, mock, mocking, jest, vitest, ci',
  'docs/orms.md': 'drizzle, typeorm, sequelize, knex, kysely, outbox',
  'docs/clients.md':
    'login with google button, social login, login button, react spa, single page app, angular, vue, svelte, mobile app, ios, android, react native, flutter, django, flask, rails, laravel, spring, golang, dotnet, nextauth, next-auth, passport js, pkce, oauth client, sso, logout',
  'docs/partner-api.md':
    'payout, send money, transfer money, double charge, paid twice, duplicate payment, refund, pagination, 429 too many requests, throttling, settlement',
  'docs/quickstart-partner.md':
    'fake money, play money, test money, test mode, test key, first payment, api tutorial',
  'docs/sandbox.md':
    'developer portal, developer dashboard, partner portal, playground, resend webhook, replay',
  'docs/reference/partner-endpoints.md':
    'swagger, redoc, scalar, postman collection, insomnia, playground, api explorer, api docs, api reference, rest api, json schema, curl examples, python client, request and response',
  'docs/reference/partner-errors.md': '401 unauthorized, 403 forbidden, error codes, status codes',
  'docs/quickstart-receiver.md': 'webhook tutorial, webhook example, receive webhook',
  'docs/webhooks.md':
    'webhook not arriving, webhook not received, missing webhook, webhook does not arrive, webhook failed, no webhooks, callback url, notifications, ipn, hooks',
  'packages/listen/README.md':
    'ngrok, tunnel, localhost tunnel, local webhooks, webhooks on localhost, localtunnel, cloudflared, stripe listen, forward webhooks, webhook cli',
  'docs/webhook-verifier-languages.md': 'invalid signature, hmac sha256, golang, kotlin, c#, check signature',
  'docs/webhook-verifier.md': 'signature mismatch, invalid signature in node, raw body, body parser',
  'docs/operators.md':
    'admin dashboard, admin panel, admin ui, admin console, back office, support staff, control panel',
  'examples/reference-server/README.md':
    'env vars, environment variables, env file, dotenv, standalone server, smtp, email, passkeys, 2fa, mfa, totp',
  'docs/deploy.md':
    'dockerfile, hosting, vps, heroku, render, railway, fly, aws, ssl, https, certificate, tls',
  'docs/cluster.md': 'high availability, ha, failover, horizontal scaling, replicas, pgbouncer',
  'docs/compose.md': 'docker compose, docker-compose.yml, docker, single server, one machine, standby',
  'docs/postgresql.md':
    'sslmode, sslrootcert, database certificate, rds, aurora, cloud sql, neon, supabase, managed database, patroni, etcd',
  'docs/kubernetes.md': 'k8s, helm chart, openshift, manifests, hpa, pod disruption budget, network policy',
  'docs/image.md':
    'oci image, sbom, bill of materials, cosign, sigstore, slsa, attestation, distroless, arm64',
  'docs/telemetry.md':
    'grafana dashboard, monitoring, alerts, alerting, datadog, opentelemetry, otel, logging, sentry',
  'docs/alerts.md': 'runbook, incident, on call, pager, outage, alertmanager',
  'packages/adapter-postgres/README.md': 'postgres setup, postgresql database, connection string',
  'docs/doctor.md':
    'troubleshooting, does not work, not working, problem, broken, debug, debugging, diagnose, help, faq',
  'docs/upgrade.md': 'migrations, migrate database, new version, breaking changes',
  'docs/versioning.md': 'semver, changelog, release notes, lts, support policy',
  'docs/backup.md': 'disaster recovery, snapshot, dump',
  'docs/performance.md': 'benchmark, benchmarks, latency, throughput, how fast',
  'SECURITY.md': 'cve, bug bounty, security audit, disclosure, penetration test',
  'CONTRIBUTING.md': 'pull request, build from source, development setup',
};
