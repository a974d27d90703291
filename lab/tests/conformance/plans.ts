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

/** Returns the required result of a module. */
function resultOf(module: Module): 'pass' | 'warning' | 'skip' {
  if ('skip' in module) return 'skip';
  return module.warning === undefined ? 'pass' : 'warning';
}

const reasonOf = (module: Module): string =>
  'skip' in module ? module.skip : (module.warning ?? module.note ?? '');

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

The conformance tests and their results are our own. The OpenID Foundation has not checked them, and the original suite may find mistakes that our tests do not find. To run the original suite against your deployment:

1. Create three clients, one of them for \`client_secret_post\`.
2. Enter the discovery URL of your deployment in the suite, and choose \`static_client\`.
3. For the logout plans, register the URLs \`post_logout_redirect\` and \`backchannel_logout\` of the suite.

The result of a module is pass, warning or skip:

- **pass** means that every condition of the module holds.
- **warning** means that every condition holds, and that the original suite adds a warning. The original does not count a warning as a failure. The last column gives the reason, which the module tests too.
- **skip** means that our tests and the original suite leave the module out, for the reason in the last column. If that reason no longer holds, the test of the module fails.

Every condition of our conformance tests holds.

${plans.map(planSection).join('\n\n')}
`;
}
