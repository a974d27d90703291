import { discovery } from './modules/discovery.ts';
import { backchannel, logouts } from './modules/logouts.ts';
import type { Module } from './modules/module.ts';
import { requests, scopes } from './modules/requests.ts';
import { sessions } from './modules/sessions.ts';
import { tokens } from './modules/tokens.ts';

/** A plan of modules, grouped by topic. */
interface Plan {
  readonly name: string;
  readonly title: string;
  readonly modules: readonly Module[];
  /** True if the provider calls clients, so that it must be on this machine. */
  readonly isLocal?: boolean;
}

/** Plan for sign-in with the authorization code flow, the profile that every relying party starts from. */
export const basicOp: Plan = {
  name: 'oidcc-basic-certification-test-plan',
  title: 'Basic OP',
  modules: [...requests, ...scopes, ...sessions, ...tokens],
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
];

/** Returns the result of a module in the original suite, under the name that the suite gives it. */
function resultOf(module: Module): 'pass' | 'warning' | 'review' | 'skipped' {
  if ('skip' in module || module.skipped !== undefined) return 'skipped';
  if (module.review !== undefined) return 'review';
  return module.warning === undefined ? 'pass' : 'warning';
}

const reasonOf = (module: Module): string =>
  'skip' in module ? module.skip : (module.warning ?? module.review ?? module.skipped ?? module.note ?? '');

/** The plan that only the original suite runs. */
const fapi = `## FAPI 2.0 Security Profile

\`fapi2-security-profile-final-test-plan\`, with \`openid_connect\`, \`private_key_jwt\`, \`dpop\` and \`plain_fapi\`, for two clients with [\`profile: 'fapi2'\`](embedding.md#clients). Our own tests do not repeat this plan. The original suite ran its 56 modules on 2026-11-27: 52 passed, 3 had the result review, and 1 was skipped: \`fapi2-security-profile-final-test-claims-parameter-identity-claims\`, because the option \`claimsParameter\` was off.`;

function planSection(plan: Plan): string {
  const rows = plan.modules.map((module) => {
    const checks = 'skip' in module ? '' : module.checks;
    return `| \`${module.name}\` | ${resultOf(module)} | ${checks} | ${reasonOf(module)} |`;
  });
  return `## ${plan.title}

\`${plan.name}\`, discovery, static clients; ${plan.modules.length === 1 ? 'one module' : `${plan.modules.length} modules`}.

| Module | Result | What is proved | Reason or remark |
|---|---|---|---|
${rows.join('\n')}`;
}

/** Returns the page of the documentation about conformance. */
export function conformancePage(): string {
  return `<!-- Written by \`npx vitest run lab/tests/conformance -u\`. Edit the modules below lab/tests/conformance instead. -->

# OpenID Connect conformance

The conformance suite of the OpenID Foundation has plans. A plan is a list of modules, and each module tests one behaviour. Ostiary's own tests repeat the logic of four of these plans, module by module, under the original names of the modules. \`npm test\` runs these conformance tests.

The conformance tests run Ostiary behind a proxy that terminates TLS, in a host with a login of its own. In the conformance tests, a program plays the part of the user. The options that relying parties can use are switched on: the scopes \`email\`, \`phone\`, \`address\` and \`standardProfile\`, refresh tokens, and signing users out.

The conformance tests are our own. On 2026-11-27 we also ran the original suite, version 5.2.4, on our own machine: the four plans below, with discovery, static clients and \`response_type=code\`, and [the plan of the FAPI 2.0 Security Profile](#fapi-20-security-profile). No module failed, and each module had the result that the tables below name. The OpenID Foundation has not checked these runs, and Ostiary is not certified.

To run the original suite on your machine, follow [the README of the proofs](https://github.com/ostiary/ostiary/blob/main/lab/proofs/README.md#conformance). To run the original suite against your deployment:

1. Create three clients with \`https\` callbacks of the suite. The third client sends its secret in the form (\`client_secret_post\`).
2. For the logout plans, register the URL \`post_logout_redirect\` of the suite. For the back-channel plan, create one more client, with \`backchannel_logout\` as its back-channel logout URI.
3. Enter the discovery URL of your deployment in the suite, and choose \`static_client\`.
4. Upload the screenshots that the modules with the result \`review\` ask for.

The results have the names that the original suite gives them:

- **pass** means that every condition of the module holds.
- **warning** means that every condition holds, and that the original suite adds a warning. A warning does not count as a failure. The last column gives the reason, which our test of the module checks too.
- **review** means that every condition holds, and that a person has to look at a screenshot.
- **skipped** means that the original suite does not run the module, or stops before its end. The last column gives the reason, which our test of the module checks too.

Every condition of our conformance tests holds.

${plans.map(planSection).join('\n\n')}

${fapi}
`;
}
