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

The OpenID Foundation publishes a conformance suite, in which a plan is a list of modules and a module is one behaviour. Ostiary's own tests
repeat the logic of four of its plans, module by module under the names that they have there: behind a proxy that ends TLS, in a host with a login of its own,
with the user's part played by a program. They run with every \`npm test\`. The provider has the options on that relying parties can ask for: the scopes \`email\`, \`phone\`,
\`address\` and \`standardProfile\`, refresh tokens, and a host that can sign users out.

These are our tests and our results. The Foundation has not looked at them, and the original suite may find what they do not. To run the original
against a deployment of yours, provision three clients, one of them for \`client_secret_post\`, give it the discovery address, and choose \`static_client\`. The logout plans need the
addresses \`post_logout_redirect\` and \`backchannel_logout\` of the suite registered.

- **pass**: every condition of the module holds.
- **warning**: as pass, and the original adds a warning, which it does not count as a failure. The reason is a decision that the module checks, too.
- **skip**: the original leaves the module out for the same reason. A module is not skipped once its reason is gone: its test fails then.

No condition of these tests is failed.

${plans.map(planSection).join('\n\n')}
`;
}
