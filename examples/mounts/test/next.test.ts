import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Deployment, deployed, type Serve, twoVariants } from './support/deployment.ts';
import { type Proof, walkWithHeaders } from './support/headers.ts';
import { buildNextProject, type NextProject } from './support/next-project.ts';
import { callPartnerApi, signIn, visitShop } from './support/walk.ts';

describe('Next.js, built for production', () => {
  let project: NextProject;
  beforeAll(async () => {
    project = await buildNextProject();
  }, 180_000);
  afterAll(() => project?.remove());

  /**
   * Starts the Next.js process, in which Ostiary runs. The instance in this process shares its database, for
   * provisioning.
   */
  const serve: Serve = (_ostiary, _host, port, settings) => {
    const [proxy] = settings.trustedProxies ?? [];
    return project.start(port, {
      AUTH_URL: settings.authUrl,
      BASE_URL: settings.baseUrl ?? settings.authUrl,
      DATABASE_FILE: settings.file,
      SEALING_KEY: settings.sealingKey,
      ALLOW_PRIVATE_TARGETS: '1',
      ...(proxy === undefined ? {} : { PROXY_ADDRESS: proxy }),
    });
  };

  it.each(twoVariants)(
    '$name: sign-in and the host beside it; behind a proxy also the partner API with its webhook',
    (variant) =>
      deployed(
        serve,
        async (deployment) => {
          await signIn(deployment);
          await signIn(deployment, { post: true });
          // Without a proxy, Next.js does not know the client's address, and keys with an allowlist are
          // refused.
          if (variant.tls) await callPartnerApi(deployment);
          await visitShop(deployment);
        },
        { variant, worker: false },
      ),
    60_000,
  );

  it('with headers(): sign in, revoke', () => {
    const everywhere = { 'referrer-policy': 'no-referrer', 'x-frame-options': 'SAMEORIGIN' };
    const proof: Proof = {
      hostHeaders: everywhere,
      // `headers()` in the Next.js configuration replaces Ostiary's headers of the same name. Browsers then
      // hide the origin of the form.
      consentHeaders: {
        ...everywhere,
        'content-security-policy': expect.stringMatching(/^default-src 'none'; (?!.*form-action)/),
      },
      origin: () => 'null',
    };
    const visit = async (deployment: Deployment): Promise<void> => {
      const policyOf = async (path: string) =>
        (await fetch(deployment.site + path)).headers.get('content-security-policy');
      expect(await policyOf('/shop')).toContain("form-action 'self'");
      // Chromium applies `form-action` of a login page to the redirect that ends at the app.
      expect(await policyOf('/login')).toBeNull();
      await walkWithHeaders(deployment, proof);
    };
    return deployed(serve, visit, { worker: false });
  }, 60_000);
});
