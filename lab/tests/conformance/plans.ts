import { discovery } from './modules/discovery.ts';
import { discovery as fapiDiscovery } from './modules/fapi/discovery.ts';
import { proofs } from './modules/fapi/proofs.ts';
import { pushing } from './modules/fapi/pushing.ts';
import { refreshing } from './modules/fapi/refreshing.ts';
import { requests as fapiRequests } from './modules/fapi/requests.ts';
import { resourceProofs } from './modules/fapi/resource-proofs.ts';
import { signIns } from './modules/fapi/sign-ins.ts';
import { tokens as fapiTokens } from './modules/fapi/tokens.ts';
import { backchannel, logouts } from './modules/logouts.ts';
import type { Module } from './modules/module.ts';
import { requests, scopes } from './modules/requests.ts';
import { sessions } from './modules/sessions.ts';
import { tokens } from './modules/tokens.ts';

/** A conformance test plan with its modules, grouped by topic. */
interface Plan {
  readonly name: string;
  readonly title: string;
  readonly modules: readonly Module[];
  /**
   * True if the provider calls clients during the plan, so that the conformance suite must run on this
   * machine.
   */
  readonly isLocal?: boolean;
  /** Variant of the conformance test plan, if it is not the variant that the plans of OpenID Connect have. */
  readonly variant?: string;
}

/** Plan for sign-in with the authorization code flow, the profile that every relying party starts from. */
export const basicOp: Plan = {
  name: 'oidcc-basic-certification-test-plan',
  title: 'Basic OP',
  modules: [...requests, ...scopes, ...sessions, ...tokens],
};

/** Conformance test plan for clients of the FAPI 2.0 Security Profile, in the order of the original plan. */
export const fapi: Plan = {
  name: 'fapi2-security-profile-final-test-plan',
  title: 'FAPI 2.0 Security Profile',
  modules: [
    ...fapiDiscovery,
    ...[...signIns, ...proofs, ...fapiRequests],
    ...[...fapiTokens, ...resourceProofs, ...refreshing, ...pushing],
  ],
  variant: '`openid_connect`, `private_key_jwt`, `dpop`, `plain_fapi`, `unsigned` and `plain_response`',
};

export const plans: readonly Plan[] = [
  { name: 'oidcc-config-certification-test-plan', title: 'Config OP', modules: discovery },
  basicOp,
  {
    name: 'oidcc-rp-initiated-logout-certification-test-plan',
    title: 'RP-Initiated Logout OP',
    modules: logouts,
  },
  {
    name: 'oidcc-backchannel-rp-initiated-logout-certification-test-plan',
    title: 'Back-Channel Logout OP',
    modules: backchannel,
    isLocal: true,
  },
  fapi,
];

/**
 * Returns the result that the original conformance suite gives a module, under the suite's name for this
 * result.
 */
function resultOf(module: Module): 'pass' | 'warning' | 'review' | 'skipped' {
  if ('skip' in module || module.skipped !== undefined) return 'skipped';
  if (module.review !== undefined) return 'review';
  return module.warning === undefined ? 'pass' : 'warning';
}

const reasonOf = (module: Module): string =>
  'skip' in module ? module.skip : (module.warning ?? module.review ?? module.skipped ?? module.note ?? '');

function planSection(plan: Plan): string {
  const rows = plan.modules.map((module) => {
    const checks = 'skip' in module ? '' : module.checks;
    return `| \`${module.name}\` | ${resultOf(module)} | ${checks} | ${reasonOf(module)} |`;
  });
  const { variant = 'discovery and static clients' } = plan;
  const count = plan.modules.length === 1 ? 'the only module' : `the ${plan.modules.length} modules`;
  return `## ${plan.title}

The table lists ${count} of the plan \`${plan.name}\`, which we run with ${variant}.

| Module | Result | What is proved | Reason or remark |
|---|---|---|---|
${rows.join('\n')}`;
}

/** Returns the page of the documentation about conformance. */
export function conformancePage(): string {
  return `<!-- Written by \`npx vitest run lab/tests/conformance -u\`. Edit the modules below lab/tests/conformance instead. -->

# OpenID Connect conformance

The conformance suite of the OpenID Foundation consists of test plans. A test plan of the conformance suite is a list of modules, and each module tests one behaviour. Ostiary's own tests repeat the logic of five of the Foundation's test plans, module by module, under the original names of the modules. \`npm test\` runs Ostiary's conformance tests.

The conformance tests call Ostiary as a proxy that terminates TLS does, inside a server with its own login. In the conformance tests, a program takes the place of the user and of the browser. The conformance tests switch on these options: the scopes \`email\`, \`phone\`, \`address\` and \`standardProfile\`, refresh tokens, signing users out, keys of clients, pushed requests and DPoP. In the modules of the [FAPI 2.0 Security Profile](#fapi-20-security-profile), the clients have [\`profile: 'fapi2'\`](embedding.md#clients), and the library \`oauth4webapi\` makes their requests.

We wrote the conformance tests ourselves; they are not the original suite of the OpenID Foundation. On 2026-11-29 we also ran the original suite of the OpenID Foundation, versions 5.2.3 and 5.2.4, on our own machine: the five test plans below. The test plans of OpenID Connect ran with discovery, static clients and \`response_type=code\`. In our runs of the OpenID Foundation's suite, no module failed, and each module had the result that the tables below name. The OpenID Foundation has not checked our runs of its suite, and Ostiary is not certified.

To run the Foundation's conformance suite on your machine, follow [the README of the proofs](https://github.com/ostiary/ostiary/blob/main/lab/proofs/README.md#conformance). To run the Foundation's conformance suite against your own deployment:

1. Create three OAuth clients, with the \`https\` callback URLs of the conformance suite. The third of the clients for the conformance suite sends its secret in the form (\`client_secret_post\`).
2. For the logout plans of the conformance suite, register the suite's URL \`post_logout_redirect\` for the clients. For the back-channel plan of the conformance suite, create one more client, with the suite's URL \`backchannel_logout\` as its back-channel logout URI.
3. For the plan of the FAPI 2.0 Security Profile, create two more clients with \`profile: 'fapi2'\`, each with its own key and with \`refreshWithoutOfflineAccess\`. Register the callback URL of the conformance suite for both clients of the FAPI 2.0 plan, once without a query and once with the query \`?dummy1=lorem&dummy2=ipsum\`. The module \`fapi2-security-profile-final-user-rejects-authentication\` needs two further clients of this kind, to which its user has not consented before.
4. In the conformance suite, enter the discovery URL of your deployment, and choose \`static_client\`.
5. In the conformance suite, upload a screenshot for each module with the result \`review\`.

The tables use the result names of the OpenID Foundation's conformance suite:

- The result **pass** means that every condition of the test module holds.
- The result **warning** means that every condition of the test module holds, and that the OpenID Foundation's suite warns about something that is not an error. A module with the result **warning** does not count as failed. The last column of the tables gives the reason of each warning, which our test of the module checks too.
- The result **review** means that every condition of the test module holds, and that a person has to look at a screenshot.
- The result **skipped** means that the OpenID Foundation's suite does not run the test module, or stops before its end. The last column of the tables gives the reason why a module was skipped, which our test of the module checks too.

In our conformance tests, every condition of every module that is not skipped holds.

${plans.map(planSection).join('\n\n')}
`;
}
